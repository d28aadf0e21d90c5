package subjects

// Feature is something that a scenario may ask of an informer, or a property has to know of it, and that some stacks lack.
type Feature string

// StreamingLists are those of watch-list=on (I13).
const StreamingLists Feature = "watch-list=on"

// LateIndexes are added to an informer that runs (I73).
const LateIndexes Feature = "indexer"

// Transforms change objects before they are queued (I43).
const Transforms Feature = "transform"

// Removals are those of handlers from an informer that runs (I81).
const Removals Feature = "remove"

// Drains are shutdowns of work queues that wait (I96).
const Drains Feature = "drain"

// HandlerSync is the HasSynced of a handler (I86). Where it is lacking, no handler has a KindSynced record, and workers start once their
// informer has synced.
const HandlerSync Feature = "HasSynced of a handler"

// InitialFlags tell a handler which additions are of the initial list (I79). Where they are lacking, all are NotifyAdd.
const InitialFlags Feature = "isInInitialList"

// WatchTimeouts are those that a transcript prints. A release that draws other random numbers in between has others.
const WatchTimeouts Feature = "timeouts of watches"

// BackoffResets end what the backoff of an informer has grown to two minutes after the last reset, even if it was used since (I12).
const BackoffResets Feature = "reset of the backoff"

// OneBackoff is that of an informer for all of its failures (I12). Where it is lacking, watches that are refused have one of their own, which begins anew.
const OneBackoff Feature = "one backoff for lists and watches"

// StreamTransforms are of each object of a streaming list as it comes, so that one may fail. Where that is lacking, a transform that fails has the list fail when it is complete, as a
// list does, and nobody closes its watch.
const StreamTransforms Feature = "transform=fail with watch-list=on"

// ReadyKeys are told when they become ready. Where that is lacking, they are seen when something else happens, and time does not stop for them.
const ReadyKeys Feature = "the moment at which a key becomes ready"

// QueueFeature is a kind of queue.
func QueueFeature(q Queue) Feature { return Feature("queue=" + string(q)) }
