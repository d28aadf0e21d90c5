package fault

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

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
		if err := t.Validate(); err != nil {
			return invalid("after: %w", err)
		}
	}
	return nil
}

// Validate checks all of the trigger but the names of clients and resources, which Cluster.OnTrigger checks.
func (t *Trigger) Validate() error {
	switch {
	case !slices.Contains(triggerEvents, t.Event):
		return fmt.Errorf("there is no event %q: want one of%s", t.Event, strings.Join(triggerEvents, " "))
	case t.Count < 0:
		return fmt.Errorf("count is %d: it must not be negative", t.Count)
	}
	return nil
}

// RetrySeconds returns the fault's Retry-After in whole seconds.
func (f *Fault) RetrySeconds() int {
	return int((f.RetryAfter + time.Second - 1) / time.Second)
}
