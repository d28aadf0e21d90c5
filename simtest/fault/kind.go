package fault

// Kind names a kind of fault. It is also the name of the choice.
type Kind string

// The kinds of faults that a real server or network shows every day. The built-in mixes are made of them.
const (
	WatchClose    Kind = "watch-close"     // the server ends a watch cleanly
	WatchEOF      Kind = "watch-eof"       // the connection ends during a watch
	WatchReset    Kind = "watch-reset"     // the connection of a watch is reset
	WatchStall    Kind = "watch-stall"     // the server sends nothing more, not even the end at the deadline
	WatchHalfOpen Kind = "watch-half-open" // the connection is dead, which the client's health check finds 45 s later
	WatchDelay    Kind = "watch-delay"     // nothing arrives for a while
	Watch410      Kind = "watch-410"       // an ERROR event: Expired
	Watch500      Kind = "watch-500"       // an ERROR event: InternalError

	List410   Kind = "list-410"   // only where the real server could: with a revision or a continue token
	List429   Kind = "list-429"   // with Retry-After
	List500   Kind = "list-500"   // InternalError
	List503   Kind = "list-503"   // ServiceUnavailable
	List504   Kind = "list-504"   // Timeout
	ListLost  Kind = "list-lost"  // the connection ends before the answer arrives
	ListReset Kind = "list-reset" // the connection is reset before the request is served
	ListStale Kind = "list-stale" // served by the replica that lags most, if that can answer it

	WatchOpen429     Kind = "watch-open-429"
	WatchOpen500     Kind = "watch-open-500"
	WatchOpen503     Kind = "watch-open-503"
	WatchOpen504     Kind = "watch-open-504"
	WatchOpenRefused Kind = "watch-open-refused" // connection refused

	Write429   Kind = "write-429"
	Write500   Kind = "write-500"
	Write503   Kind = "write-503"
	Write504   Kind = "write-504"
	WriteLost  Kind = "write-lost"  // committed, but the answer is lost
	WriteReset Kind = "write-reset" // not committed: the connection is reset first

	Compact        Kind = "compact"
	ReplicaRestart Kind = "replica-restart"
	ReplicaLag     Kind = "replica-lag" // a replica applies nothing for a while
)

// Rarer kinds, which a real server or network also shows. The mix `edges` has them.
const (
	WatchSlow            Kind = "watch-slow"              // the server closes the watch, as the client does not keep up (I105)
	WatchEOFInFrame      Kind = "watch-eof-in-frame"      // the connection ends within the next frame
	WatchCutLength       Kind = "watch-cut-length"        // the connection ends within the next frame's length prefix
	WatchBookmarkLost    Kind = "watch-bookmark-lost"     // the next periodic bookmark is not sent
	WatchBookmarkLate    Kind = "watch-bookmark-late"     // the next bookmark is delayed, events are not (k126958)
	WatchBookmarkEarly   Kind = "watch-bookmark-early"    // a bookmark without the annotation comes among the initial events of a watch-list
	ListTooLarge         Kind = "list-too-large"          // 504 ResourceVersionTooLarge, for a list at a revision
	ListRefused          Kind = "list-refused"            // connection refused
	ListResetHeaders     Kind = "list-reset-headers"      // served, but the connection is reset within the answer's headers
	ListSlow             Kind = "list-slow"               // the answer is delayed
	WatchOpenTooLarge    Kind = "watch-open-too-large"    // a watch-list is opened, and gets an ERROR event 504 (S16)
	WatchOpenStale       Kind = "watch-open-stale"        // served by the replica that lags most, for which the revision may be in the future (S14)
	WatchOpenLost        Kind = "watch-open-lost"         // the connection ends before the answer's headers arrive
	WatchOpenResetHeader Kind = "watch-open-reset-header" // the connection is reset within the headers
	WatchOpenSlow        Kind = "watch-open-slow"         // the headers are delayed
	WriteRefused         Kind = "write-refused"           // connection refused
	WriteResetHeaders    Kind = "write-reset-headers"     // committed, but the connection is reset within the answer's headers
	WriteSlow            Kind = "write-slow"              // committed, but the answer is delayed
	WriteLate            Kind = "write-late"              // committed late, and answered then; not at all if the client gives up before
	LeaderLoss           Kind = "leader-loss"             // the Store has no leader: watch caches reinitialise, writes fail (k111116)
	ReplicaSkew          Kind = "replica-skew"            // a replica's clock is wrong by a constant
)

// Kinds that no correct server shows, and restores of older states. They happen only when requested by name.
const (
	WatchGarbage       Kind = "watch-garbage"         // the next frame does not decode
	WatchDuplicate     Kind = "watch-duplicate"       // the next frame comes twice
	WatchReorder       Kind = "watch-reorder"         // the next frame comes after the one that follows it
	WatchDrop          Kind = "watch-drop"            // the next frame is dropped
	WatchNoEndBookmark Kind = "watch-no-end-bookmark" // the initial events of a watch-list never end (k135895)
	Restore            Kind = "restore"               // the Store is restored to an older revision (k107457)
	RestoreBumped      Kind = "restore-bumped"        // the same, with the revision bumped past all earlier ones
	WatchOldDelete     Kind = "watch-old-delete"      // the next DELETED has the resourceVersion that the object had before (k58545)
	WatchEndUnmarked   Kind = "watch-end-unmarked"    // the bookmark that ends the initial events lacks its annotation (k138167)
	ListTorn           Kind = "list-torn"             // the second half of a list is newer than its resourceVersion (k94002)
)

// What other clients do. No mix has it but those of a Go test's seeds 16 to 31, 48 to 63 and so on.
const (
	WriteOvertaken Kind = "write-overtaken" // another client writes the object just before; what goes by the old resourceVersion gets a 409
)

// What happens to calls of admission webhooks, in Go tests that have some (simtest.Options.Webhooks). The webhook's failure policy decides what
// becomes of the write.
const (
	WebhookTimeout Kind = "webhook-timeout" // no answer within the webhook's timeout; the handler may have been called
	WebhookRefused Kind = "webhook-refused" // connection refused
	Webhook500     Kind = "webhook-500"     // the answer is a 500
	WebhookGarbage Kind = "webhook-garbage" // the answer is 200, and no review
)
