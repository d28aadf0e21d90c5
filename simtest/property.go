package simtest

import (
	"fmt"
	"time"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// Property is a statement about runs that is checked step by step. It is a value without state: one Property serves any number of runs.
//
//	simtest.Property{
//		Name:      "NoSecretIsDeleted",
//		Statement: "nothing deletes a Secret",
//		Kinds:     []string{"commit"},
//		New: func() simtest.Checker {
//			return simtest.Checker{Record: func(r *simtest.Record) *simtest.Violation {
//				if r.Detail == "DELETED" && strings.HasPrefix(r.Key, "secrets ") {
//					return &simtest.Violation{Key: r.Key, Message: r.Key + " was deleted"}
//				}
//				return nil
//			}}
//		},
//	}
type Property struct {
	// Name identifies it in reports.
	Name string
	// Statement says, in one sentence, what always holds.
	Statement string
	// Kinds are the names of the kinds of records that it looks at, as in traces: commit, request, response, frame, watch-closed, fault, process, …
	Kinds []string
	// New returns a checker for one run.
	New func() Checker

	// Of those that WellBehaved returns, which the engine judges.
	ready  bool
	except []wire.Exception
}

// Checker checks a property in one run. Either function may be nil. One that returns a Violation ends the run. Checkers run between two steps,
// when nothing else does; they may read the test's own state, and must not use Env.
type Checker struct {
	// Record is called with every record of the property's kinds.
	Record func(r *Record) *Violation
	// End is called when the body has returned, unless something broke before.
	End func() *Violation
}

// Record is something that happened in a run. What Key, RV, N and Detail mean depends on the kind; these are the ones that properties look at most:
//
//	commit        a write is in the Store: Key, RV its revision, Detail ADDED, MODIFIED or DELETED; Actor is "cluster"
//	request       a client sends a request: Key the plural, N the request's number, Detail its verb and options
//	response      a client has the answer: N, Detail the code, of an error with reason and message
//	page          a client has a list, or a page of one: RV its resourceVersion, N the number of items, Detail begins with request= and its number
//	frame         a client has an event of a watch: Key, RV, N the watch's request, Detail the event's type
//	watch-closed  a watch has ended for its client: N, Detail why
//	fault         a fault has struck: Key its victim, Detail its kind
//	process       Actor is "process/NAME", Detail "started", "crashed", "ended", or "exited: " and the error
//	reconcile     a reconcile begins that Env.Reconciling or Logger tells of: Actor is "CONTROLLER/N", Key the object
//	sends         it sends a request: Actor and Key are the reconcile's, Detail is the client and N the request's number
//	reconciled    it has ended: Key, Detail "ok" or the error, N nanoseconds until the next, -1 if that is not known
//	log           Env.Logf: Detail the line
type Record struct {
	Step   uint64        // of the run; the first is 1
	At     time.Duration // virtual, since the start of the run
	Actor  string        // "cluster", "conn/NAME", "process/NAME", …
	Kind   string
	Key    string // "plural namespace/name", or a plural
	RV     int64
	N      int64 // of a request or watch
	Detail string
}

// Violation says how a property is broken.
type Violation struct {
	Key     string     // of the object that it is about; may be empty
	Message string     // what was expected and what was seen
	Because []Evidence // the records that prove it; the report shows them, oldest first
}

// Evidence is one step of a proof.
type Evidence struct {
	Step uint64        // of the run
	At   time.Duration // virtual, since the start of the run
	Text string        // what it shows
}

// Because returns the record as evidence, with what it shows. A checker may keep it, or the record, until it needs it:
//
//	return &simtest.Violation{Key: r.Key, Message: r.Key + " is created again", Because: []simtest.Evidence{
//		first.Because("it is created (RV %d)", first.RV), r.Because("and again, and nobody has deleted it (RV %d)", r.RV),
//	}}
func (r *Record) Because(format string, args ...any) Evidence {
	return Evidence{Step: r.Step, At: r.At, Text: fmt.Sprintf(format, args...)}
}

// validate reports the first mistake in a list of properties.
func validate(all []Property) error {
	names := map[string]bool{}
	for n, p := range all {
		switch {
		case p.Name == "":
			return fmt.Errorf("property %d has no name", n+1)
		case names[p.Name]:
			return fmt.Errorf("there are two properties %q: give each a name of its own", p.Name)
		case p.ready:
		case p.New == nil:
			return fmt.Errorf("property %q has no New", p.Name)
		case len(p.Kinds) == 0 && p.New().Record != nil:
			return fmt.Errorf("property %q has a Record function and no Kinds: list the kinds of records it checks", p.Name)
		}
		names[p.Name] = true
	}
	return nil
}

// checking is a property in this run.
type checking struct {
	name  string
	kinds map[string]bool
	Checker
}

func newCheckings(all []Property) []checking {
	var cs []checking
	for _, p := range all {
		if p.ready {
			continue
		}
		c := checking{name: p.Name, kinds: map[string]bool{}, Checker: p.New()}
		for _, k := range p.Kinds {
			c.kinds[k] = true
		}
		cs = append(cs, c)
	}
	return cs
}
