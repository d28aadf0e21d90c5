package simtest

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// Engine and Subject are what the headers of traces say.
const (
	engine  = bubble.Engine
	subject = "simtest"

	optionPackage = "package" // in the header's options: the import path of the test
	optionRuntime = "runtime" // in the header's options: who decides what Go leaves open
	runtimeSeeded = "seeded"  // the seed; without it, nobody
)

// world is one run: the kernel, the cluster with its REST layer, the processes and the body. The kernel's goroutine owns it,
// but for what mu guards.
type world struct {
	o        *Options
	t        TB
	seed     uint64
	kernel   *sim.Kernel
	strategy sim.Strategy
	filter   *faultFilter // the strategy, if it picks faults
	cluster  *fakeapiserver.Cluster
	api      *rest.Server
	mapper   *resourceMapper
	bubble   *bubble.Bubble
	gate     *gate
	helpers  sim.ActorID // the client of Env's helpers
	body     *body
	checks   *checks
	ctx      context.Context
	over     context.CancelCauseFunc

	processes []*process
	byName    map[string]*process
	clients   map[string]bool
	crashed   int
	maxSteps  uint64
	stopped   bool // the faults have stopped
	touched   bool // something was done to the bubble in this step
	passed    bool // time has passed in this step
	monitor   *property.Monitor
	run       reports.Run // what is counted
	ended     atomic.Bool // and so has the bubble

	mu sync.Mutex
}

// source is where a run's choices come from: a seed, or a trace.
type source struct {
	header sim.Header
	replay *sim.Replay // nil for a seed
	picks  *[]pick     // of another run, that are made again as far as they are possible; nil for none

	maxSteps uint64 // instead of Options.MaxSteps; 0 for that
}

// header is the trace's header of a seed.
func header(o *Options, name, pkg string, seed uint64) (sim.Header, error) {
	h := sim.Header{Scenario: name, Subject: subject, Engine: engine, Strategy: o.Strategy, Seed: seed, Options: map[string]string{
		"crashes": strconv.FormatFloat(o.CrashProbability, 'g', -1, 64), "maxCrashes": strconv.Itoa(o.MaxCrashes),
		optionPackage: pkg, "replicas": strconv.Itoa(o.Replicas), "garbageCollection": strconv.FormatBool(o.GarbageCollection), "history": strconv.FormatInt(o.History, 10),
	}}
	if bubble.Seeded() {
		h.Options[optionRuntime] = runtimeSeeded
	}
	mix, err := json.Marshal(o.FaultMix.Draw(seed))
	h.Mix = mix
	return h, err
}

// newWorld makes a world. It is called inside the bubble.
func newWorld(t TB, o *Options, mapper *resourceMapper, s source) (*world, error) {
	mix, err := fault.ParseMix(s.header.Mix)
	if err != nil {
		return nil, fmt.Errorf("the trace's header: %w", err)
	}
	w := &world{
		o: o, t: t, seed: s.header.Seed, mapper: mapper,
		byName: map[string]*process{}, clients: map[string]bool{}, maxSteps: o.MaxSteps,
		run: runOf(s.header),
	}
	w.run.Mix = mix.Name
	if s.maxSteps > 0 {
		w.maxSteps = min(s.maxSteps, o.MaxSteps)
	}
	ko := sim.Options{Seed: w.seed, Start: s.header.Digest()}
	switch {
	case s.replay != nil:
		w.strategy, ko.Tape = s.replay, s.replay
	case s.picks != nil:
		g := &guided{seed: w.seed, picks: *s.picks, fifo: sim.NewFIFO()}
		w.strategy, ko.Tape = g, g
		defer func() { g.k = w.kernel }()
	case o.Strategy == "fifo":
		w.strategy = sim.NewFIFO()
	default:
		w.filter = &faultFilter{Strategy: sim.NewRandom(w.seed, func(k sim.Kind) float64 {
			if k == kindCrash {
				return o.CrashProbability
			}
			return mix.Rate(k)
		})}
		w.strategy = w.filter
	}
	ko.Strategy = w.strategy
	w.kernel = sim.NewKernel(ko)
	if s.replay != nil {
		s.replay.Bind(w.kernel)
		w.kernel.Observe(s.replay)
	}
	w.ctx, w.over = context.WithCancelCause(context.Background())
	if w.bubble, err = bubble.Enter(w.kernel); err != nil {
		return nil, err
	}
	klog.SetLogger(logr.Discard()) // errors go to the terminal otherwise; the bubble's host puts it back
	w.kernel.Clock().Share(w.pass)
	w.kernel.OnApplied(w.settle)
	w.kernel.Clock().Freeze()
	w.gate = &gate{w: w}
	w.gate.id = w.kernel.Register(w.gate)
	w.body = &body{w: w}
	w.body.id = w.kernel.Register(w.body)
	w.cluster = fakeapiserver.NewCluster(w.kernel, fakeapiserver.ClusterOptions{
		Replicas: o.Replicas, History: o.History, Faults: mix.Kinds(), MaxFaults: mix.Max,
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
	w.checks = newChecks(w)
	w.monitor = property.NewMonitor(w, append([]property.Property{apiProperties(w)}, o.Properties...))
	w.kernel.Observe(w.monitor)
	w.kernel.Observe(&tally{&w.run})
	return w, nil
}

// note ends the passing of time. Any goroutine in the bubble may call it.
func (w *world) note() { w.bubble.Note() }

// touch says that goroutines in the bubble may have something to do now.
func (w *world) touch() { w.touched = true }

// pass lets time pass in the bubble.
func (w *world) pass(d time.Duration) time.Duration {
	w.passed = true
	return w.bubble.Pass(d)
}

// settle ends a step: it waits until nothing moves in the bubble and brings in what was asked for there.
func (w *world) settle() {
	if !w.passed {
		w.bubble.Quiesce()
	}
	w.bubble.CheckTime()
	w.gate.collect()
	for _, p := range w.processes {
		p.collect()
	}
	w.touched, w.passed = false, false
}

// fail notes a broken property, the first one.
func (w *world) fail(property, message string) {
	w.monitor.Report(property, &reports.Violation{Message: message})
}

// panicked is told when the REST layer panics.
func (w *world) panicked(r *transport.Request, p any, stack []byte) {
	w.kernel.Fail(fmt.Errorf("the fake apiserver panicked at %s %s: %v; this is a bug of informersim\n%s", r.Method, r.URL, p, stack))
}

// offerCrashes offers the crashes that are possible now.
func (w *world) offerCrashes() {
	enabled := w.o.CrashProbability > 0 && !w.stopped && w.crashed < w.o.MaxCrashes
	for _, p := range w.processes {
		p.offerCrash(enabled)
	}
}

// stopFaults ends all faults. What follows is to converge.
func (w *world) stopFaults() {
	w.stopped = true
	w.cluster.StopFaults()
	if s, ok := w.strategy.(interface{ StopFaults() }); ok {
		s.StopFaults()
	}
	w.offerCrashes()
}
