package fakeapiserver

import (
	"github.com/informersim/informersim/sim"
)

// The kinds of choices.
var (
	KindApply   = sim.RegisterKind("apply", sim.ClassAction)   // a replica applies an event of a resource; also a kind of record
	KindInit    = sim.RegisterKind("init", sim.ClassAction)    // a replica initialises the watch cache of a resource
	KindAdmit   = sim.RegisterKind("admit", sim.ClassAction)   // a request reaches its replica
	KindRespond = sim.RegisterKind("respond", sim.ClassAction) // an answer reaches its client
	KindDeliver = sim.RegisterKind("deliver", sim.ClassAction) // a watch frame reaches its client
)

// The kinds of records.
var (
	// KindCommit is a write: Key is "<plural> <key>", RV its revision, Detail ADDED, MODIFIED or DELETED; Obj, Old.
	KindCommit = sim.RegisterKind("commit", sim.ClassRecord)
	// KindRequest is a request made by a client: N is its id, Detail the verb and its options. Obj is an *Asked, unless it is a get or a write.
	KindRequest = sim.RegisterKind("request", sim.ClassRecord)
	// KindResponse is an answer that reached its client: N is the request's id, Detail "ok" or the error; of an answer in HTTP, the
	// code, and of an error the reason and the message: "200 OK", "409 Conflict: …". Obj is the object of a write, or the error.
	KindResponse = sim.RegisterKind("response", sim.ClassRecord)
	// KindPage is a list, or a page of one, that reached its client: RV its resourceVersion, N the number of items. A get is a list
	// of one, and "404 NotFound: …" ends the Detail of one that found nothing.
	KindPage = sim.RegisterKind("page", sim.ClassRecord)
	// KindFrame is a watch event that reached its client: Key, RV, N the request's id, Detail the event's type; Obj.
	KindFrame = sim.RegisterKind("frame", sim.ClassRecord)
	// KindWatchClosed is the end of a watch: N is the request's id, Detail why: CanceledByClient, or what the server or the network
	// did; Obj the error with which the connection broke, if it did.
	KindWatchClosed = sim.RegisterKind("watch-closed", sim.ClassRecord)
	// KindFault is a fault that happened: Key is its victim, Detail its name.
	KindFault = sim.RegisterKind("fault", sim.ClassRecord)
	// KindCompact is a compaction: RV is the oldest revision left.
	KindCompact = sim.RegisterKind("compacted", sim.ClassRecord)
	// KindRestore is a restore of the Store: RV is its revision afterwards.
	KindRestore = sim.RegisterKind("restored", sim.ClassRecord)
)

// CanceledByClient is KindWatchClosed's Detail when the client has ended the watch.
const CanceledByClient = "canceled by the client"
