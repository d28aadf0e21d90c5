package world

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/informersim/informersim/fakeapiserver/controllers/stages"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wire"
)

// The defaults of a run's options.
const (
	defaultMaxSteps    = 1_000_000
	defaultBodyTimeout = 2 * time.Hour // virtual
	maxNodes           = 1000
)

// options are a run's, complete and checked.
type options struct {
	wire.Options
	mix        *fault.Mix // nil if each seed draws one
	properties []userProperty
	ready      []wire.Property // the ready-made ones
	stages     []*stages.Stage // nil if there are no nodes and nothing else is said

	controllers []string // by name, those that are actors
	kubernetes  []string // Kubernetes' own
	seeded      bool     // the test is built with the overlay of Go's runtime
}

// userProperty is a property that is judged in the test's process.
type userProperty struct {
	name  string
	kinds []sim.Kind
}

// newOptions checks a test's options and fills in defaults. Its errors name the fields of simtest.Options.
func newOptions(from wire.Options) (*options, error) {
	o := &options{Options: from}
	switch {
	case !(o.CrashProbability <= 1):
		return nil, fmt.Errorf("Options.CrashProbability is %v: it must be at most 1; a negative one means never", o.CrashProbability)
	case o.MaxCrashes < 0:
		return nil, fmt.Errorf("Options.MaxCrashes is %d: it must not be negative", o.MaxCrashes)
	case o.Strategy == fifo && (o.Mix != "" && o.Mix != "none" || o.FaultMix != nil || o.CrashProbability > 0):
		return nil, errors.New("Options.Strategy is fifo, which picks no faults: leave out Mix, FaultMix and CrashProbability, or use random")
	}
	if o.Strategy == "" {
		o.Strategy = defaultStrategy
	}
	if _, err := newStrategy(o.Strategy, 0, nil); err != nil {
		return nil, err
	}
	if o.Nodes < 0 || o.Nodes > maxNodes {
		return nil, fmt.Errorf("Options.Nodes is %d: want 0 to %d", o.Nodes, maxNodes)
	}
	if err := o.parseStages(); err != nil {
		return nil, err
	}
	if err := o.findControllers(); err != nil {
		return nil, err
	}
	if o.MaxSteps == 0 {
		o.MaxSteps = defaultMaxSteps
	}
	if o.BodyTimeout <= 0 {
		o.BodyTimeout = defaultBodyTimeout
	}
	if err := o.findKinds(); err != nil {
		return nil, err
	}
	if err := readyNames(o.ready); err != nil {
		return nil, err
	}
	return o, o.completeMix()
}

// completeMix finds the mix that the options name.
func (o *options) completeMix() error {
	name := o.Mix
	switch {
	case o.FaultMix != nil:
		o.mix = &fault.Mix{}
		if err := json.Unmarshal(o.FaultMix, o.mix); err != nil {
			return fmt.Errorf("Options.FaultMix: %w", err)
		}
		return o.mix.Validate()
	case o.Strategy == fifo:
		name = "none"
	case name == "":
		return nil // each seed draws one
	}
	mix, err := fault.MixNamed(name)
	if err != nil {
		return fmt.Errorf("Options.Mix: %w", err)
	}
	o.mix = &mix
	return nil
}

// parseStages reads the stages that the options name.
func (o *options) parseStages() error {
	files := o.Stages
	if files == nil && o.Nodes > 0 {
		files = []wire.File{{Name: stages.DefaultSet}}
	}
	for _, f := range files {
		parse := func() ([]*stages.Stage, error) { return stages.Parse(f.Name, []byte(f.Text)) }
		if f.Text == "" {
			parse = func() ([]*stages.Stage, error) { return stages.Set(f.Name) }
		}
		all, err := parse()
		if err != nil {
			return fmt.Errorf("Options.Stages: %w", err)
		}
		o.stages = append(o.stages, all...)
	}
	return nil
}

// findKinds looks up the kinds of records that the user's properties look at.
func (o *options) findKinds() error {
	for _, p := range o.Properties {
		if p.Ready {
			o.ready = append(o.ready, p)
			continue
		}
		u := userProperty{name: p.Name}
		for _, name := range p.Kinds {
			k, ok := sim.KindByName(name)
			if !ok {
				return fmt.Errorf("Options.Properties: property %q: there is no kind of record %q", p.Name, name)
			}
			u.kinds = append(u.kinds, k)
		}
		o.properties = append(o.properties, u)
	}
	return nil
}
