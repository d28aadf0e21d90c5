package simtest

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// The engine and the subject in the headers of traces.
const (
	engine  = bubble.Engine
	subject = "simtest"

	optionPackage = "package" // in the header's options: the import path of the test
	optionRuntime = "runtime" // in the header's options: what decides what Go leaves open
	runtimeSeeded = "seeded"  // the seed does; otherwise chance
)

// world is one run: the kernel, the cluster with its REST layer, the processes and the body. The kernel's goroutine owns it,
// except for what mu guards.
type world struct {
	o        *Options
	t        TB
	config   configuration
	seed     uint64
	kernel   *sim.Kernel
	strategy sim.Strategy
	filter   *faultFilter // strategy, if it picks faults
	cluster  *fakeapiserver.Cluster
	api      *rest.Server
	mapper   *resourceMapper
	bubble   *bubble.Bubble
	gate     *gate
	helpers  sim.ActorID // the client of Env's helpers
	landing  *landing    // what it commits
	flight   *flight     // nil if the trace is kept in memory only
	log      *logBook
	body     *body
	checks   *checks
	ctx      context.Context
	cancel   context.CancelCauseFunc

	processes []*process
	byName    map[string]*process
	clients   map[string]bool
	crashed   int
	maxSteps  uint64
	stopped   bool          // the faults have stopped
	stoppedAt time.Duration // when they did
	touched   bool          // this step may have woken goroutines in the bubble
	passed    bool          // time has passed in this step
	monitor   *property.Monitor
	run       reports.Run // the counts so far
	ended     atomic.Bool // the run is over, and the bubble has ended

	mu sync.Mutex
}

// source is where a run's choices come from: a seed, a trace, or a list of picks.
type source struct {
	header sim.Header
	replay *sim.Replay // nil for a seed
	picks  *[]sim.Pick // another run's, to be repeated where possible; nil for none

	maxSteps uint64 // instead of Options.MaxSteps; 0 for that one
}

// header returns the trace's header for a seed.
func header(o *Options, name, pkg string, seed uint64) (sim.Header, error) {
	h := sim.Header{Scenario: name, Subject: subject, Engine: engine, Strategy: o.Strategy, Seed: seed, Options: map[string]string{
		optionPackage: pkg, "garbageCollection": strconv.FormatBool(o.GarbageCollection),
	}}
	if bubble.Seeded() {
		h.Options[optionRuntime] = runtimeSeeded
	}
	c, err := configure(o, seed)
	if err != nil {
		return h, err
	}
	return h, c.write(&h)
}

// newWorld returns a world. It must be called inside the bubble.
func newWorld(t TB, o *Options, mapper *resourceMapper, s source, log *logBook) (*world, error) {
	config, err := readConfiguration(&s.header)
	if err != nil {
		return nil, err
	}
	w := &world{
		o: o, t: t, config: config, seed: s.header.Seed, mapper: mapper, log: log,
		byName: map[string]*process{}, clients: map[string]bool{}, maxSteps: o.MaxSteps,
		run: runOf(s.header),
	}
	w.run.Mix, w.run.Configuration = config.mix.Name, config.String()
	if s.maxSteps > 0 {
		w.maxSteps = min(s.maxSteps, o.MaxSteps)
	}
	ko := sim.Options{Seed: w.seed, Start: s.header.Digest()}
	switch {
	case s.replay != nil:
		w.strategy, ko.Tape = s.replay, s.replay
	case s.picks != nil:
		g := sim.NewGuided(w.seed, *s.picks)
		w.strategy, ko.Tape = g, g
		defer func() { g.Bind(w.kernel) }()
	case o.Strategy == "fifo":
		w.strategy = sim.NewFIFO()
	default:
		w.filter = &faultFilter{Strategy: sim.NewRandom(w.seed, func(k sim.Kind) float64 {
			if k == kindCrash {
				return config.crashes
			}
			return config.mix.Rate(k)
		})}
		w.strategy = w.filter
	}
	ko.Strategy = w.strategy
	w.kernel = sim.NewKernel(ko)
	if s.replay != nil {
		s.replay.Bind(w.kernel)
		w.kernel.Observe(s.replay)
	}
	w.ctx, w.cancel = context.WithCancelCause(context.Background())
	if w.bubble, err = bubble.Enter(w.kernel); err != nil {
		return nil, err
	}
	w.log.takeOver()
	w.kernel.Clock().Share(w.pass)
	w.kernel.OnApplied(w.settle)
	w.kernel.Clock().Freeze()
	w.gate = &gate{w: w}
	w.gate.id = w.kernel.Register(w.gate)
	w.body = &body{w: w}
	w.body.id = w.kernel.Register(w.body)
	w.cluster = fakeapiserver.NewCluster(w.kernel, fakeapiserver.ClusterOptions{
		Replicas: config.replicas, History: config.history, NoWatchList: !config.watchList, Faults: config.mix.Kinds(), MaxFaults: config.mix.Max,
	})
	if w.api, err = rest.New(rest.Options{Cluster: w.cluster, Types: mapper.registry, Policy: fakeapiserver.ByChoice()}); err != nil {
		return nil, err
	}
	w.cluster.Connect(workloadClient, fakeapiserver.ByChoice())
	if w.filter != nil {
		w.filter.exempt(w.kernel, "conn/"+workloadClient)
	}
	if o.GarbageCollection {
		newCollector(w)
	}
	w.helpers, _ = w.kernel.ActorByName("conn/" + workloadClient)
	w.kernel.Observe(w.log)
	w.landing = &landing{w: w}
	w.kernel.Observe(w.landing)
	w.checks = newChecks(w)
	w.monitor = property.NewMonitor(w, append([]property.Property{apiProperties(w)}, o.Properties...))
	w.kernel.Observe(w.monitor)
	w.kernel.Observe(&tally{&w.run})
	return w, nil
}

// note stops the passing of time. Any goroutine in the bubble may call it.
func (w *world) note() { w.bubble.Note() }

// touch notes that goroutines in the bubble may have something to do.
func (w *world) touch() { w.touched = true }

// pass lets time pass in the bubble.
func (w *world) pass(d time.Duration) time.Duration {
	w.passed = true
	w.flight.pending(true)
	return w.bubble.Pass(d)
}

// settle ends a step: it waits until the bubble is quiescent and collects what its goroutines want done.
func (w *world) settle() {
	if !w.passed {
		w.flight.pending(false)
		w.bubble.Quiesce()
	}
	w.bubble.CheckTime()
	w.gate.collect()
	for _, p := range w.processes {
		p.collect()
	}
	w.touched, w.passed = false, false
}

// fail reports a broken property; only the first one counts.
func (w *world) fail(property, message string) {
	w.monitor.Report(property, &reports.Violation{Message: message})
}

// panicked is called when the REST layer panics.
func (w *world) panicked(r *transport.Request, p any, stack []byte) {
	w.kernel.Fail(fmt.Errorf("the fake apiserver panicked at %s %s: %v; this is a bug in informersim\n%s", r.Method, r.URL, p, stack))
}

// offerCrashes offers or withdraws the crashes of all processes.
func (w *world) offerCrashes() {
	enabled := w.config.crashes > 0 && !w.stopped && w.crashed < w.config.maxCrashes
	for _, p := range w.processes {
		p.offerCrash(enabled)
	}
}

// stopFaults ends all faults, so that the system can converge.
func (w *world) stopFaults() {
	if !w.stopped {
		w.stopped, w.stoppedAt = true, w.kernel.Elapsed()
	}
	w.cluster.StopFaults()
	if s, ok := w.strategy.(interface{ StopFaults() }); ok {
		s.StopFaults()
	}
	w.offerCrashes()
}
