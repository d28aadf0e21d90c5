package fault

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

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

	// Count is how many requests or watches are hit, 1 if 0; negative for all that are in flight, and none later.
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
	// Revision is the revision to compact or restore to; 0 for the current one, or to restore to the oldest one left.
	Revision int64
}

// Parse reads a fault from JSON or YAML, and refuses unknown fields:
//
//	{"kind": "watch-410", "target": "i1", "after": {"event": "frame", "key": "default/a", "count": 3}}
func Parse(data []byte) (Fault, error) {
	var j faultJSON
	if err := readDocument(data, &j); err != nil {
		return Fault{}, fmt.Errorf("fault: %w", err)
	}
	var f Fault
	f.from(&j)
	if err := f.Validate(); err != nil {
		return Fault{}, err
	}
	return f, nil
}

var (
	verbs         = []string{"", "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}
	triggerEvents = []string{"", TriggerFrame, TriggerRequest, TriggerCommit}
)

// Validate checks all of the fault but the names of clients, replicas and resources, which Cluster.Inject checks.
func (f *Fault) Validate() error {
	if _, err := ParseKind(string(f.Kind)); err != nil {
		return fmt.Errorf("fault: %w", err)
	}
	invalid := func(format string, args ...any) error {
		return fmt.Errorf("fault %s: "+format, append([]any{f.Kind}, args...)...)
	}
	switch {
	case math.IsNaN(f.Probability) || f.Probability < 0 || f.Probability > 1:
		return invalid("probability is %v: it must be between 0 and 1", f.Probability)
	case f.From < 0 || f.Until < 0:
		return invalid("from and until must not be negative")
	case f.Until > 0 && f.Until <= f.From:
		return invalid("until %v is not after from %v", f.Until, f.From)
	case f.RetryAfter < 0 || f.RetryAfter > time.Hour*24*365:
		return invalid("retryAfter is %v: it must be between 0 and a year", f.RetryAfter)
	case f.Duration < 0 && f.Kind != ReplicaSkew:
		return invalid("duration is %v: it must not be negative", f.Duration)
	case f.Revision < 0:
		return invalid("revision is %d: it must not be negative", f.Revision)
	case !slices.Contains(verbs, f.Verb):
		return invalid("there is no verb %q: want one of%s", f.Verb, strings.Join(verbs, " "))
	}
	if t := f.After; t != nil {
		switch {
		case !slices.Contains(triggerEvents, t.Event):
			return invalid("after: there is no event %q: want one of%s", t.Event, strings.Join(triggerEvents, " "))
		case t.Count < 0:
			return invalid("after: count is %d: it must not be negative", t.Count)
		}
	}
	return nil
}

// RetrySeconds returns the fault's Retry-After in whole seconds.
func (f *Fault) RetrySeconds() int {
	return int((f.RetryAfter + time.Second - 1) / time.Second)
}
