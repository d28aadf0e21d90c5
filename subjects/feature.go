package subjects

// Feature is something that a scenario may ask of an informer, and that some stacks lack.
type Feature string

// StreamingLists are those of watch-list=on (I13).
const StreamingLists Feature = "watch-list=on"

// LateIndexes are added to an informer that runs (I73).
const LateIndexes Feature = "indexer"

// QueueFeature is a kind of queue.
func QueueFeature(q Queue) Feature { return Feature("queue=" + string(q)) }
