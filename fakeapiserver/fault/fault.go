package fault

import "time"

// Lasting, as a fault's Count, hits every request or watch that the fault selects.
const Lasting = 1<<31 - 1

// Fault is a fault as data: what goes wrong, for whom, when and how often. In JSON and YAML durations are strings like
// "1m30s".
type Fault struct {
	Kind Kind

	// Target is the name of the client or the replica ("replica/1") to hit; "" for any client, or replica/0.
	Target string
	// Replica ("replica/1") hits only requests that it serves; "" for any.
	Replica string
	// Verb hits only requests of that verb: get, list, watch, create, update, patch, delete, deletecollection; "" for any.
	Verb string
	// Resource is the plural of the resource whose requests are hit; "" for any.
	Resource string
	// Namespace and Name hit only requests, or for faults of a frame only frames, of such objects.
	Namespace, Name string

	// Count is how many requests or watches are hit, 1 if 0; Lasting for all, until StopFaults or Until; negative for all that are in
	// flight, and none later.
	Count int
	// Probability is the probability that an eligible request or watch is hit; 0 means 1.
	Probability float64
	// From and Until bound when it happens, in virtual time since the start of the run; Until is exclusive, 0 for no bound.
	From, Until time.Duration
	// After makes the fault wait for something else to happen first.
	After *Trigger

	// RetryAfter, rounded up to seconds, is sent to the client. If it is 0, a 429 sends 1 s and the others nothing.
	RetryAfter time.Duration
	// Duration is how long a stall, a delay, a lag or a loss lasts, or by how much a clock is ahead (negative: behind); 0 means
	// until StopFaults, for a clock one minute.
	Duration time.Duration
	// Revision is the revision to compact or restore to; 0 for the current one, or to restore to the oldest one left. Of list-stale it is the one
	// as of which lists at resourceVersion "0" are answered, while a watch cache still has that; 0 for that of the replica that lags most.
	Revision int64
}
