package property

import (
	"fmt"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// Property is a statement about runs that can be checked step by step. It is a value without state: one Property serves any
// number of runs, at the same time too.
type Property struct {
	// Name is what reports and traces call it.
	Name string
	// Statement says in a sentence what always holds.
	Statement string
	// Kinds are the records that it looks at; it is not told of others.
	Kinds []sim.Kind
	// New returns what checks it in one run.
	New func() Checker
}

// Checker checks a property in one run. A function may be nil; one that returns a Violation ends the run, and need not fill in
// the property's name, the step and the time. It may not change the world, draw random numbers, or keep a record beyond the
// call; its work should be proportional to the record.
type Checker struct {
	// Record is called with every record of the property's kinds.
	Record func(w World, r *sim.Record) *reports.Violation
	// StepEnd is called after every step.
	StepEnd func(w World) *reports.Violation
	// End is called once, if nothing was broken before: when the faults of a scenario have stopped and the world has converged or
	// should have, and when the body of a Go test has returned.
	End func(w World) *reports.Violation
}

// OnRecord is the New of a property that judges each record by itself.
func OnRecord(judge func(w World, r *sim.Record) *reports.Violation) func() Checker {
	return func() Checker { return Checker{Record: judge} }
}

// AtEnd is the New of a property that judges only what is left at the end.
func AtEnd(judge func(w World) *reports.Violation) func() Checker {
	return func() Checker { return Checker{End: judge} }
}

// World is the run that a property looks at.
type World interface {
	// Kernel knows the time, the step, and the names of actors.
	Kernel() *sim.Kernel
	// Cluster is the fake apiserver; nil before the first command of a scenario.
	Cluster() *fakeapiserver.Cluster
	// Informers are those of the subject that were not stopped, in order of adding. A Go test has none that can be seen.
	Informers() []subjects.Informer
	// Informer is the informer of that name, stopped or not; nil if there is none.
	Informer(name string) subjects.Informer
	// Workers are the workers of controllers, in order of adding.
	Workers() []subjects.Workers
	// Divergence says how an informer's Indexer differs from what the Store holds for it now: the first key, in order, that
	// is missing, too many or different; "" if none.
	Divergence(inf subjects.Informer) (key, message string)
}

// Validate says what is wrong with a list of properties.
func Validate(all []Property) error {
	names := map[string]bool{}
	for n, p := range all {
		switch {
		case p.Name == "":
			return fmt.Errorf("property %d has no name", n+1)
		case names[p.Name]:
			return fmt.Errorf("there are two properties %q: give each a name of its own", p.Name)
		case p.New == nil:
			return fmt.Errorf("property %q has no New", p.Name)
		case len(p.Kinds) == 0 && p.New().Record != nil:
			return fmt.Errorf("property %q has a Record function and no Kinds: list the kinds of records that it looks at", p.Name)
		}
		names[p.Name] = true
	}
	return nil
}
