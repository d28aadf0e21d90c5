package world

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/apiextensions"
	"github.com/informersim/informersim/fakeapiserver/authorization"
	"github.com/informersim/informersim/fakeapiserver/authorization/modes"
	"github.com/informersim/informersim/fakeapiserver/controllers"
	"github.com/informersim/informersim/fakeapiserver/controllers/names"
	"github.com/informersim/informersim/fakeapiserver/quotas"
	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wire"
)

// The engine and the subject in the headers of traces.
const (
	engine  = "bubble"
	subject = "simtest"

	optionPackage = "package" // in the header's options: the import path of the test
	optionRun     = "run"     // in the header's options: the number of the Run or Find among those of the test
	optionRuntime = "runtime" // in the header's options: what decides what Go leaves open
	runtimeSeeded = "seeded"  // the seed does; otherwise chance
)

// world is one run: the kernel, the cluster with its REST layer, the processes and the body.
type world struct {
	o           *options
	config      configuration
	seed        uint64
	kernel      *sim.Kernel
	strategy    sim.Strategy
	filter      *faultFilter // strategy, if it picks faults
	cluster     *fakeapiserver.Cluster
	api         *rest.Server
	mapper      *resourceMapper
	definitions *apiextensions.Server // nil if CustomResourceDefinitions are not served
	remote      *remote
	manager     *manager // nil without Kubernetes' own controllers
	reconciles  *reconciles
	flight      *flight
	gate        *gate
	helpers     sim.ActorID // the client of Env's helpers
	landing     *landing    // what it commits
	leases      *leaseWriters
	behaved     *wellBehaved                 // nil if no ready-made property is asked for
	stages      *controllers.StageController // nil if nothing goes on by itself
	body        *body
	webhooks    *webhooks // nil if none are called
	conversions *conversions

	processes []*process
	byName    map[string]*process
	lives     int64 // how many lives of processes have begun
	forever   *life // of clients of no process
	sometimes map[string]bool
	aimed     map[string]bool // the clients that a fault or a trigger is aimed at
	crashed   int
	maxSteps  uint64
	streamed  bool          // a client has asked for a streaming list
	stopped   bool          // the faults have stopped
	stoppedAt time.Duration // when they did
	monitor   *property.Monitor
	run       reports.Run // the counts so far
}

// source is where a run's choices come from: a seed, a trace, or a list of picks.
type source struct {
	header sim.Header
	replay *sim.Replay // nil for a seed
	picks  *[]sim.Pick // another run's, to be repeated where possible; nil for none
	timed  bool        // the picks have their times, and not an order only

	cut  bool          // the trace is of a run that was cut off, and is to go on from there
	next *reports.Next // with this choice; nil for none

	maxSteps uint64 // instead of Options.MaxSteps; 0 for that one
}

// newHeader returns the trace's header for a seed.
func newHeader(o *options, task *wire.Task, seed uint64) (sim.Header, error) {
	h := sim.Header{Scenario: task.Test, Subject: subject, Engine: engine, Strategy: o.Strategy, Seed: seed, Options: map[string]string{
		optionPackage: task.Package, "garbageCollection": strconv.FormatBool(o.runs(names.GarbageCollector)),
	}}
	if len(o.Controllers) > 0 {
		h.Options[optionControllers] = strings.Join(slices.Concat(o.controllers, o.kubernetes), ",")
	}
	if o.ServeCRDs {
		h.Options[optionServeCRDs] = "true"
	}
	if task.Run > 0 {
		h.Options[optionRun] = strconv.Itoa(task.Run)
	}
	if task.Seeded {
		h.Options[optionRuntime] = runtimeSeeded
	}
	c, err := configure(o, seed)
	if err != nil {
		return h, err
	}
	return h, c.write(&h)
}

// newWorld returns a world, whose bubble the test's process has begun.
func newWorld(o *options, mapper *resourceMapper, p *peer, kubernetes *peer, s source) (*world, error) {
	config, err := readConfiguration(&s.header)
	if err != nil {
		return nil, err
	}
	w := &world{
		o: o, config: config, seed: s.header.Seed, mapper: mapper,
		byName: map[string]*process{}, forever: &life{}, sometimes: map[string]bool{}, aimed: map[string]bool{}, maxSteps: o.MaxSteps,
		run: runOf(s.header),
	}
	if o.ServeCRDs {
		if w.mapper, err = mapper.own(); err != nil {
			return nil, err
		}
	}
	w.run.Mix, w.run.Configuration = config.mix.Name, config.String()
	if s.maxSteps > 0 {
		w.maxSteps = min(s.maxSteps, o.MaxSteps)
	}
	ko := sim.Options{Seed: w.seed, Start: s.header.Digest()}
	if ko.Tape, err = w.choose(s); err != nil {
		return nil, err
	}
	ko.Strategy = w.strategy
	w.kernel = sim.NewKernel(ko)
	w.bind()
	if o, is := w.strategy.(sim.Observer); is {
		w.kernel.Observe(o)
	}
	w.remote = newRemote(w, p)
	w.reconciles = newReconciles(w)
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
	if config.leap > 0 {
		leap(w.cluster, config.leap)
	}
	limits, err := quotas.New()
	if err != nil {
		return nil, err
	}
	if err := w.startAPI(limits); err != nil {
		return nil, err
	}
	if err := w.serveDefinitions(); err != nil {
		return nil, err
	}
	w.cluster.Connect(workloadClient, fakeapiserver.ByChoice())
	w.startControllers(limits)
	if err := w.startNodes(); err != nil {
		return nil, err
	}
	w.helpers, _ = w.kernel.ActorByName("conn/" + workloadClient)
	if w.filter != nil {
		w.filter.exempts = func(id sim.ActorID) bool { return id == w.helpers || w.manager.has(id) }
	}
	w.landing = &landing{w: w}
	w.kernel.Observe(w.landing)
	w.leases = &leaseWriters{w: w, last: map[string]string{}}
	w.kernel.Observe(w.leases)
	w.cluster.OnCommit(w.remote.committed)
	w.cluster.OnRestore(w.remote.restored)
	w.behaved = newWellBehaved(w)
	w.monitor = property.NewMonitor(w, slices.Concat(apiProperties(w), w.behaved.properties(), w.remote.properties()))
	w.kernel.Observe(w.monitor)
	w.kernel.Observe(&tally{&w.run})
	if kubernetes != nil {
		w.manager = newManager(w, kubernetes, o.kubernetes, interleaves(&s.header))
	}
	return w, nil
}

// startAPI makes what answers requests.
func (w *world) startAPI(limits rest.Quotas) (err error) {
	served := rest.Options{Cluster: w.cluster, Types: w.mapper.registry, Writer: w.mapper.writer, Policy: fakeapiserver.ByChoice(), Namespaces: w.o.hasNamespaces(), Quotas: limits}
	if w.o.Authorized {
		if served.Authorizer, err = authorization.New([]string{modes.RBAC}, w.cluster); err != nil {
			return err
		}
	}
	if w.o.Webhooks {
		if w.webhooks, err = newWebhooks(w); err != nil {
			return err
		}
		served.Admission, served.Beside = w.webhooks, w.webhooks.beside
	}
	w.api, err = rest.New(served)
	return err
}

// settle ends a step: it waits until nothing moves in the bubble any more and takes in what its goroutines want done.
func (w *world) settle() {
	w.remote.rest()
	w.manager.rest()
	if w.remote.lost() || w.manager.lost() {
		return
	}
	w.remote.checkTime()
	if w.manager != nil {
		w.manager.checkTime()
	}
	w.remote.emitLogs()
	w.reconciles.emit()
	w.gate.collect()
	for _, p := range w.processes {
		p.collect()
	}
}

// fail reports a broken property; only the first one counts.
func (w *world) fail(property, message string) { w.failAt(property, "", message) }

func (w *world) failAt(property, key, message string) {
	w.monitor.Report(property, &reports.Violation{Key: key, Message: message})
}

// panicked is called when the REST layer panics.
func (w *world) panicked(r *rest.Request, p any, stack []byte) {
	w.kernel.Fail(fmt.Errorf("the fake apiserver panicked at %s %s: %v; this is a bug in informersim\n%s", r.Method, r.URL, p, stack))
}

// offerCrashes offers or withdraws the crashes of all processes.
func (w *world) offerCrashes() {
	enabled := w.config.crashes > 0 && !w.stopped && w.crashed < w.config.maxCrashes
	for _, p := range w.processes {
		p.offerCrash(enabled)
	}
}

// draws reports whether the run may draw another fault, or crash a process.
func (w *world) draws() bool {
	return !w.stopped && (len(w.config.mix.Kinds()) > 0 && w.cluster.FaultsLeft() || w.config.crashes > 0 && w.crashed < w.config.maxCrashes)
}

// stopFaults ends all faults, so that the system can converge.
func (w *world) stopFaults() {
	if !w.stopped {
		w.stopped, w.stoppedAt = true, w.kernel.Elapsed()
		if w.stages != nil {
			w.stages.StopFaults()
		}
	}
	w.cluster.StopFaults()
	if w.webhooks != nil {
		w.webhooks.stopFaults()
	}
	w.conversions.stopFaults()
	if s, ok := w.strategy.(interface{ StopFaults() }); ok {
		s.StopFaults()
	}
	w.offerCrashes()
}
