package subjects

import (
	"time"

	"github.com/informersim/informersim/sim"
)

// Kinds of records that every subject emits. The actor is the informer ("i1") or the handler ("i1/h1").
var (
	// KindIndexer: the Indexer changed. Key, RV, Obj the new state, Old the one before; Detail add, update or delete.
	KindIndexer = sim.RegisterKind("indexer", sim.ClassRecord)
	// KindNotify: a handler was called. Key; RV of the new object, N that of the old one; Obj, Old; Detail one of the
	// constants below.
	KindNotify = sim.RegisterKind("notify", sim.ClassRecord)
	// KindStored: what the Indexer held under Key when a handler was called, where it has changed in the same step since then. RV; 0 if it held
	// nothing. N is the highest that it had held until then. The handler's KindNotify follows. Only runs in which goroutines are interleaved have it.
	KindStored = sim.RegisterKind("stored", sim.ClassRecord)
	// KindReplace: the reflector replaced the queue's content with a list. RV of the list, N its number of items, Obj its
	// keys ([]string, in the list's order).
	KindReplace = sim.RegisterKind("replace", sim.ClassRecord)
	// KindTombstone: a Replace found a key missing and queued its deletion. Key. Only subjects whose queue can be observed emit it;
	// they set TombstonesVisible as KindReplace's Detail.
	KindTombstone = sim.RegisterKind("tombstone", sim.ClassRecord)
	// KindSynced: HasSynced of an informer, or of a handler's registration, turned true.
	KindSynced = sim.RegisterKind("synced", sim.ClassRecord)
	// KindHandler: a handler was added ("added") or removed ("removed"). Obj of an added one is a HandlerAdded.
	KindHandler = sim.RegisterKind("handler", sim.ClassRecord)
	// KindResync: a resync queued the store's objects again. N objects.
	KindResync = sim.RegisterKind("resync", sim.ClassRecord)
	// KindRefused: the informer's transform fails (I112): for the object of a frame, Key and RV, which is lost; or for N objects of a list, which its
	// queue does not take.
	KindRefused = sim.RegisterKind("refused", sim.ClassRecord)
	// KindBackoff: the reflector backs off. N nanoseconds; Detail the reason.
	KindBackoff = sim.RegisterKind("backoff", sim.ClassRecord)
	// KindStopped: an informer was stopped.
	KindStopped = sim.RegisterKind("stopped", sim.ClassRecord)
	// KindRestarted: an informer that was stopped begins another life, under an actor ID of its own and the same name. Its handlers are
	// added after that, in the same step.
	KindRestarted = sim.RegisterKind("restarted", sim.ClassRecord)
)

// HandlerAdded is what properties need to know of a handler that was added.
type HandlerAdded struct {
	HandlerSpec
	// Check is the resync period of its informer, as specified.
	Check time.Duration
	// Late means that the informer had started.
	Late bool
	// AllResyncs means that a KindResync is emitted for each of the informer's resyncs, even one of nothing.
	AllResyncs bool
	// Queue is that of its informer; "" for the subject's default.
	Queue Queue
}

// Details of KindNotify.
const (
	NotifyAdd        = "add"
	NotifyAddInitial = "add initial"
	NotifyUpdate     = "update"
	NotifySync       = "update sync" // old and new have the same resourceVersion (I75)
	NotifyDelete     = "delete"
	NotifyUnknown    = "delete unknown-final-state" // a DeletedFinalStateUnknown (I47)
)

// TombstonesVisible is KindReplace's Detail when KindTombstone records follow in the same step.
const TombstonesVisible = "tombstones-visible"
