package property

import (
	"fmt"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// Property is a statement about runs that can be checked step by step. It is a value without state: one Property serves any
// number of runs, even concurrently.
type Property struct {
	// Name identifies it in reports and traces.
	Name string
	// Statement says, in one sentence, what always holds.
	Statement string
	// Kinds are the kinds of records it checks; it sees no others.
	Kinds []sim.Kind
	// New returns a checker for one run.
	New func() Checker
	// Needs are what a stack under test must have to be held to it, which some stacks lack.
	Needs []Need
}

// Need is a feature that a property has to know of.
type Need struct {
	Feature subjects.Feature
	// Part says what of the property is not judged of a stack that lacks it; "" for all of it.
	Part string
	// Rest takes the place of New then; nil if that does.
	Rest func() Checker
}

// Judged returns those of the properties that can be judged of a stack that lacks something, and what of them is not. Of one that lacks nothing
// they are all, in the same memory.
func Judged(all []Property, lacks map[subjects.Feature]string) (can []Property, not []reports.Unjudged) {
	if len(lacks) == 0 {
		return all, nil
	}
	for _, p := range all {
		whole := true
		for _, n := range p.Needs {
			why, lacking := lacks[n.Feature]
			if !lacking {
				continue
			}
			not = append(not, reports.Unjudged{Property: p.Name, Part: n.Part, Why: why})
			if whole = whole && n.Part != ""; n.Rest != nil {
				p.New = n.Rest
			}
		}
		if whole {
			can = append(can, p)
		}
	}
	return can, not
}

// Names returns the names of properties, nil for none.
func Names(all []Property) []string {
	if len(all) == 0 {
		return nil
	}
	names := make([]string, len(all))
	for n := range all {
		names[n] = all[n].Name
	}
	return names
}

// Checker checks a property in one run. Any of its functions may be nil. One that returns a Violation ends the run, and need not
// fill in the property's name, the step or the time. It must not change the world, draw random numbers, or retain a record
// after the call; its work should be proportional to the record.
type Checker struct {
	// Record is called with every record of the property's kinds.
	Record func(w World, r *sim.Record) *reports.Violation
	// StepEnd is called after every step, or, with Pending, after those at whose end that is true: for what few steps concern, Record sets it and StepEnd
	// clears it. A step after which nothing is pending counts as judged all the same.
	StepEnd func(w World) *reports.Violation
	Pending *bool
	// End is called once, unless something broke before: in a scenario when the faults have stopped and the world has converged
	// or should have, in a Go test when the body has returned.
	End func(w World) *reports.Violation
}

// OnRecord returns the New of a property that judges each record on its own.
func OnRecord(judge func(w World, r *sim.Record) *reports.Violation) func() Checker {
	return func() Checker { return Checker{Record: judge} }
}

// AtEnd returns the New of a property that judges only the final state.
func AtEnd(judge func(w World) *reports.Violation) func() Checker {
	return func() Checker { return Checker{End: judge} }
}

// The names of properties that hold for every run, whatever else is checked: the run itself finds out.
const (
	// NoLivelock: the run comes to an end.
	NoLivelock = "NoLivelock"
	// NoPanic: the stack under test does not panic.
	NoPanic = "NoPanic"
	// NoDeadlock: each step of a stack with goroutines comes to rest.
	NoDeadlock = "NoDeadlock"
	// NoLeak: the goroutines of the stack under test end with the run.
	NoLeak = "NoLeak"
	// NoDataRace: the race detector finds nothing in the stack under test.
	NoDataRace = "NoDataRace"
)

// World is a run as a property sees it.
type World interface {
	// Kernel returns the kernel, which knows the time, the step, and the names of actors.
	Kernel() *sim.Kernel
	// Cluster returns the fake apiserver; nil before the first command of a scenario.
	Cluster() *fakeapiserver.Cluster
	// Informers returns the subject's informers that are not stopped, in the order they were added; none in a Go test.
	Informers() []subjects.Informer
	// Informer returns the informer of that name, stopped or not; nil if there is none.
	Informer(name string) subjects.Informer
	// InformerOf returns the informer that has the name of an informer's or a handler's actor now: of "i1" and of its handler "i1/h1" it is i1.
	// It is nil for other actors.
	InformerOf(id sim.ActorID) subjects.Informer
	// Workers returns the workers of controllers, in the order they were added.
	Workers() []subjects.Workers
	// Divergence describes how an informer's Indexer differs from what the Store holds for it now: the first key, in order,
	// that is missing, unexpected or different; "" if none.
	Divergence(inf subjects.Informer) (key, message string)
	// Explores reports whether the run is one of many of its scenario. A transcript is not, nor what is left of a run that was shrunk: what has nothing to do
	// with the run, and is checked in some of many, is checked there.
	Explores() bool
}

// Validate reports the first mistake in a list of properties.
func Validate(all []Property) error {
	for n := range all {
		p := &all[n]
		switch {
		case p.Name == "":
			return fmt.Errorf("property %d has no name", n+1)
		case named(all[:n], p.Name):
			return fmt.Errorf("there are two properties %q: give each a name of its own", p.Name)
		case p.New == nil:
			return fmt.Errorf("property %q has no New", p.Name)
		case len(p.Kinds) == 0 && p.New().Record != nil:
			return fmt.Errorf("property %q has a Record function and no Kinds: list the kinds of records it checks", p.Name)
		}
	}
	return nil
}

// named reports whether one of them has that name. They are few enough to do without a table, which every run would make.
func named(all []Property, name string) bool {
	for n := range all {
		if all[n].Name == name {
			return true
		}
	}
	return false
}
