package wire

// Protocol is the number of this version of the protocol. Both sides must have the same.
const Protocol = 11

// The kinds of messages.
const (
	Hello    = 'V'
	Job      = 'J'
	Begin    = 'B'
	Do       = 'D'
	Report   = 'R'
	Query    = 'Q'
	Answer   = 'A'
	Call     = 'C'
	Called   = 'K'
	End      = 'E'
	Ended    = 'X'
	Finished = 'F'
)

// The flags of Do.
const (
	Pass   = 1 << iota // let time pass: until something happens in the bubble, or the duration is over
	Checks             // call the functions of env.Always and env.Sometimes once everything rests
)

// The actions of Do.
const (
	DoAnswer  = 'w' // id, code, header, body: a whole answer to a request
	DoOpen    = 'o' // id, code, header: a streamed answer begins
	DoFrame   = 'f' // id, bytes
	DoClose   = 'z' // id, error: the stream ends, or the request is not answered
	DoStart   = 's' // process, life: start it
	DoKill    = 'k' // process, life: what it does from now on reaches nobody
	DoBody    = 'b' // start the body
	DoReply   = 'r' // bytes: the answer to EventAsk
	DoObject  = 'p' // subscription, key, error, JSON, fields (number, values): an object has changed
	DoDelete  = 'd' // subscription, key: it is gone
	DoForget  = 'n' // the Store has another history: what was read of it means nothing
	DoRecord  = 't' // step, elapsed, actor, kind, key, revision, n, detail: a record for the user's properties
	DoEndings = 'e' // call the user's properties' End
	DoLocate  = 'l' // say where the body's goroutine is blocked
	DoErrors  = 'm' // elapsed: say what has been logged as an error since then
	DoCall    = 'h' // id, URL, header, body: an admission webhook is called
	DoHangUp  = 'u' // id: its caller has given up
)

// The events of Report.
const (
	EventRequest   = 'q' // id, client, life, the reconcile that sends it (0 if that is not known), method, URL, header, body
	EventCancel    = 'c' // id: the client has gone
	EventExit      = 'x' // process, life, failed, error, panic: a process has returned
	EventAsk       = 'a' // Ask…, duration, words: the body wants something
	EventBody      = 'b' // How…, text: the body has ended
	EventViolated  = 'v' // property, message, key, evidence (number; each step, elapsed, text): a check has failed
	EventHeld      = 'h' // name: a condition of env.Sometimes holds
	EventLog       = 'l' // text: env.Logf
	EventBodyAt    = 'g' // text: the answer to DoLocate
	EventErrors    = 'm' // number, for each step, elapsed, text: the answer to DoErrors
	EventWaiting   = 'i' // number, texts: where goroutines of the program's own wait as the body fails
	EventReconcile = 'y' // id, controller, ends. A begin: group, kind ("" if the key has the plural), key. An end: outcome, when it is due again or -1
	EventCalled    = 'w' // id, error, code, header, body: what a webhook answers, or why it does not
)

// How a body ended.
const (
	Returned = iota
	Exited   // with runtime.Goexit, as t.FailNow does
	Panicked // with a panic of the program's own
	Unwound  // with a panic by which another testing library ends a test, and which it must catch itself
	Skipped  // by skipping the test
)

// What the body asks for. All are answered by DoReply.
const (
	AskStart      = 'g' // a process: name
	AskCrash      = 'k' // name
	AskRestart    = 'r' // name
	AskCrashAfter = 'K' // name, a trigger as JSON: as a fault does, once the trigger's event has happened. Reply: error
	AskSettle     = 's'
	AskAdvance    = 'v' // duration
	AskFaults     = 'i' // each a fault as JSON. Reply: error, ids (number, numbers) of those that have not struck
	AskWithdraw   = 'W' // ids in decimals: of faults that need not strike any more
	AskStopFaults = 'f'
	AskChecks     = 'c' // there are checks from now on; words: names of env.Sometimes
	AskChange     = 'e' // until something changes or, by this virtual time, does not. Reply: flag, whether the time is over
	AskWrite      = 'w' // each a Write, as Write.Word returns it. Reply: for each error, reason of the refusal, object; nothing after an error
	AskFail       = 'x' // property, message: the run has failed
)

// The kinds of queries. Each is answered with an error, and if that is none with fields.
const (
	QueryDocument = 'd' // method, URL, header. Answer: code, header, body
	QueryObjects  = 'o' // apiVersion, kind. Answer: subscription, group, plural, namespaced, list kind, names of fields that select
	// (number, texts), objects (key, error, JSON, values of those fields) as one field
	QueryObject = 'b' // subscription, key: one that could not be converted. Answer: error, JSON, values of those fields
	QueryKeys   = 'k' // plural or plural.group. Answer: keys (number, texts), in the Store's order
	QueryState  = 's' // Answer: State as JSON. Do has all of it but the faults that are pending
	QueryLease  = 'l' // namespace/name. Answer: the client that wrote that Lease last
)
