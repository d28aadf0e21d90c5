package ginkgosuite

import (
	"cmp"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/kinds"
)

// Options say how the files are played. The zero value plays each transcript on every subject.
type Options struct {
	// Subjects are the stacks under test; nil for all: informersim's own, and unmodified client-go.
	Subjects []subjects.Kind
	// Seeds is how many other orders of events are explored of each file, on each subject; 0 for none. Only properties count there.
	Seeds uint64
	// Mix names the faults that may happen in those beside the script's, such as default or storm; "" for none.
	Mix string
	// Properties are checked beside informersim's own.
	Properties []property.Property
	// Traces is the folder for traces of failures, from the test's folder; "" for testdata/informersim.
	Traces string
}

func (o *Options) subjects() []subjects.Kind {
	if o.Subjects == nil {
		return kinds.All()
	}
	return o.Subjects
}

func (o *Options) traces() string { return cmp.Or(o.Traces, "testdata/informersim") }

// mix returns the faults of an exploration.
func (o *Options) mix() (*fault.Mix, error) {
	m, err := fault.MixNamed(cmp.Or(o.Mix, "none"))
	return &m, err
}

// transcript returns the options of a transcript's run.
func (o *Options) transcript(kind subjects.Kind) scenarios.Options {
	return scenarios.Options{Subject: kind, Seed: 1, Properties: append(properties.All(), o.Properties...)}
}
