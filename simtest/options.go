package simtest

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/scenarios/property"
)

// TB is what Run needs of a test. *testing.T, *testing.B, ginkgo's GinkgoT() and *rapid.T have it.
type TB interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	FailNow()
	Failed() bool
}

// Options configure Run. The zero value works: 20 seeds, one replica, the built-in types, faults of the mix "default".
type Options struct {
	// Seeds is how many seeds are run, from 1; DefaultSeeds if 0. The flag -simtest.seeds goes first.
	Seeds int
	// Mix is the name of a built-in fault mix: none, light, default, storm; "" is default.
	Mix string
	// FaultMix is a mix of its own; it goes before Mix.
	FaultMix *fault.Mix
	// CrashProbability is how likely, in every step, a process is to crash and be restarted; 0 is never.
	CrashProbability float64
	// MaxCrashes is how often that happens in a run at most; 3 if 0.
	MaxCrashes int
	// Strategy is "random" or "fifo"; "" is random. With fifo nothing happens but what the body orders: no faults of a mix.
	Strategy string

	// Replicas is the number of apiservers, which lag behind one another; 1 if 0. Every client uses all of them.
	Replicas int
	// History is how many events of each resource a watch cache keeps; 0 for what a real one does.
	History int64
	// GarbageCollection has the garbage collector of a cluster run: what no owner is left of (ownerReferences) is deleted sooner or
	// later, and foreground deletion and orphaning come to their end. Without it finalizers of these kinds stay.
	GarbageCollection bool
	// CRDs are manifests of CustomResourceDefinitions: YAML or JSON, or the name of a file or a folder with such.
	CRDs []string
	// Scheme knows the Go types of custom resources that the helpers (Env.Create, …) are given; client-go's is known.
	Scheme *runtime.Scheme

	// Properties are checked besides those at the API. Package property says how to write one.
	Properties []property.Property
	// Verify has each seed run twice and compared, as -simtest.verify does.
	Verify bool
	// Shrink is how much real time may be spent on making a failure simpler: fewer faults, a shorter and more orderly schedule;
	// DefaultShrink if 0, none if negative. The flag -simtest.shrink goes first.
	Shrink time.Duration
	// MaxSteps is how many steps a run may have; DefaultMaxSteps if 0.
	MaxSteps uint64
	// VirtualBodyTimeout is how much virtual time the body may wait for something that is not one of Env's methods;
	// DefaultVirtualBodyTimeout if 0.
	VirtualBodyTimeout time.Duration
	// RealQuiescenceTimeout is how much real time the goroutines may take to become quiescent after a step;
	// bubble.DefaultQuiescenceTimeout if 0.
	RealQuiescenceTimeout time.Duration
}

// The values that zero Options mean.
const (
	DefaultSeeds              = 20
	DefaultMaxSteps           = 1_000_000
	DefaultShrink             = 10 * time.Second
	DefaultVirtualBodyTimeout = 2 * time.Hour
)

// complete fills in defaults and says what is wrong.
func (o *Options) complete() error {
	switch {
	case o.Seeds < 0:
		return fmt.Errorf("Options.Seeds is %d: it must not be negative", o.Seeds)
	case !(o.CrashProbability >= 0 && o.CrashProbability <= 1):
		return fmt.Errorf("Options.CrashProbability is %v: it is a probability between 0 and 1", o.CrashProbability)
	case o.MaxCrashes < 0:
		return fmt.Errorf("Options.MaxCrashes is %d: it must not be negative", o.MaxCrashes)
	case o.Strategy != "" && o.Strategy != "random" && o.Strategy != "fifo":
		return fmt.Errorf("Options.Strategy is %q: there are random and fifo", o.Strategy)
	case o.Strategy == "fifo" && (o.Mix != "" && o.Mix != "none" || o.FaultMix != nil || o.CrashProbability > 0):
		return errors.New("Options.Strategy is fifo, which picks no faults: leave Mix, FaultMix and CrashProbability out, or use random")
	}
	if err := property.Validate(o.Properties); err != nil {
		return fmt.Errorf("Options.Properties: %w", err)
	}
	if o.Seeds == 0 {
		o.Seeds = DefaultSeeds
	}
	if o.Shrink == 0 {
		o.Shrink = DefaultShrink
	}
	if o.MaxCrashes == 0 {
		o.MaxCrashes = 3
	}
	if o.MaxSteps == 0 {
		o.MaxSteps = DefaultMaxSteps
	}
	if o.VirtualBodyTimeout <= 0 {
		o.VirtualBodyTimeout = DefaultVirtualBodyTimeout
	}
	return o.completeMix()
}

func (o *Options) completeMix() error {
	name := o.Mix
	switch {
	case o.FaultMix != nil:
		return o.FaultMix.Validate()
	case o.Strategy == "fifo":
		o.Strategy, name = "fifo", "none"
	case name == "":
		name = "default"
	}
	if o.Strategy == "" {
		o.Strategy = "random"
	}
	mix, err := fault.MixNamed(name)
	if err != nil {
		return fmt.Errorf("Options.Mix: %w", err)
	}
	o.FaultMix = &mix
	return nil
}
