package simtest

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/scenarios/property"
)

// TB is the part of testing.TB that Run needs. *testing.T, *testing.B, ginkgo's GinkgoT() and *rapid.T implement it.
type TB interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	FailNow()
	Failed() bool
}

// Options configure Run. The zero value means 20 seeds, the built-in types, and what each seed draws: while neither Mix nor FaultMix
// is set, a seed chooses its own faults, with their rates; whether processes crash, and how often; the number of replicas; the
// size of watch caches; and whether the server has streaming lists. CrashProbability, Replicas and History each fix one of these.
// A failure names what its seed drew. With Mix or FaultMix, nothing is drawn but what the mix itself leaves open.
type Options struct {
	// Seeds is the number of seeds to run, starting at 1; DefaultSeeds if 0. The flag -simtest.seeds overrides it.
	Seeds int
	// Mix is the name of a built-in fault mix: none, light, default, storm, edges; if "", each seed draws one.
	Mix string
	// FaultMix is a custom mix; it overrides Mix.
	FaultMix *fault.Mix
	// CrashProbability is the probability, in every step, that a process crashes and is restarted. A negative one means never; 0
	// means what the seed draws, never in half of them, or never if there is a Mix or FaultMix.
	CrashProbability float64
	// MaxCrashes limits the crashes in a run. If 0, it is what the seed draws, from 1 to 10, or 3 if there is a Mix or FaultMix.
	MaxCrashes int
	// Strategy is "random" or "fifo"; "" is random. fifo picks the oldest event each time and no faults of a mix.
	Strategy string

	// Replicas is the number of apiservers, each of which may lag behind the others. If 0, it is what the seed draws, from 1 to 3, or
	// 1 if there is a Mix or FaultMix. Every client uses all of them.
	Replicas int
	// History is the number of events per resource that a watch cache keeps; fakeapiserver.AdaptiveHistory for a real apiserver's
	// sizes. If 0, it is what the seed draws, from 2 to a real apiserver's, or fakeapiserver.DefaultHistory if there is a Mix or
	// FaultMix.
	History int64
	// GarbageCollection runs the cluster's garbage collector: objects whose owners (ownerReferences) are all gone are eventually
	// deleted, and foreground deletion and orphaning are carried out. Without it, their finalizers stay.
	GarbageCollection bool
	// CRDs are CustomResourceDefinition manifests: YAML or JSON text, or the name of a file or folder that holds them.
	CRDs []string
	// Scheme knows the Go types of custom resources that are passed to the helpers (Env.Create, …), in addition to client-go's
	// scheme.
	Scheme *runtime.Scheme

	// Properties are checked in addition to those at the API. See package property for how to write one.
	Properties []property.Property
	// Verify runs each seed twice and compares the runs, as -simtest.verify does.
	Verify bool
	// Shrink limits the real time spent on shrinking a failure to fewer faults and a shorter, more orderly schedule;
	// DefaultShrink if 0, no shrinking if negative. The flag -simtest.shrink overrides it.
	Shrink time.Duration
	// MaxSteps limits the steps of a run; DefaultMaxSteps if 0.
	MaxSteps uint64
	// VirtualBodyTimeout limits the virtual time that the body may wait for anything but Env's methods;
	// DefaultVirtualBodyTimeout if 0.
	VirtualBodyTimeout time.Duration
	// RealQuiescenceTimeout limits the real time that goroutines may take to become quiescent after a step, after which one that
	// runs counts as a hot loop; bubble.DefaultQuiescenceTimeout if 0.
	RealQuiescenceTimeout time.Duration
}

// Defaults for zero Options.
const (
	DefaultSeeds              = 20
	DefaultMaxSteps           = 1_000_000
	DefaultShrink             = 10 * time.Second
	DefaultVirtualBodyTimeout = 2 * time.Hour
)

// complete validates the options and fills in defaults.
func (o *Options) complete() error {
	switch {
	case o.Seeds < 0:
		return fmt.Errorf("Options.Seeds is %d: it must not be negative", o.Seeds)
	case !(o.CrashProbability <= 1):
		return fmt.Errorf("Options.CrashProbability is %v: it must be at most 1; a negative one means never", o.CrashProbability)
	case o.MaxCrashes < 0:
		return fmt.Errorf("Options.MaxCrashes is %d: it must not be negative", o.MaxCrashes)
	case o.Strategy != "" && o.Strategy != "random" && o.Strategy != "fifo":
		return fmt.Errorf("Options.Strategy is %q: it must be random or fifo", o.Strategy)
	case o.Strategy == "fifo" && (o.Mix != "" && o.Mix != "none" || o.FaultMix != nil || o.CrashProbability > 0):
		return errors.New("Options.Strategy is fifo, which picks no faults: leave out Mix, FaultMix and CrashProbability, or use random")
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
	if o.MaxSteps == 0 {
		o.MaxSteps = DefaultMaxSteps
	}
	if o.Strategy == "" {
		o.Strategy = "random"
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
		name = "none"
	case name == "":
		return nil // each seed draws one
	}
	mix, err := fault.MixNamed(name)
	if err != nil {
		return fmt.Errorf("Options.Mix: %w", err)
	}
	o.FaultMix = &mix
	return nil
}
