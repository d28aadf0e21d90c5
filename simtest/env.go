package simtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
)

// Env is the world of one run, as the test's body sees it. Its methods are for the body's goroutine, but for RESTConfig,
// Now, Seed and Context, which processes use too.
type Env struct {
	w    *world
	rand *rand.Rand
}

// RESTConfig is the configuration of a client of the fake apiserver. Each name is one client: it has its own connections,
// whose faults and delays are its own. Inside a process of that name (Go) the client lives as long as that life of the process.
func (e *Env) RESTConfig(name string) *rest.Config {
	e.alive()
	if name == "" {
		panic("simtest: env.RESTConfig needs the name of a client")
	}
	return &rest.Config{
		Host:      "http://sim",
		QPS:       -1, // client-go's own rate limiter would queue requests by who is first
		UserAgent: "simtest/" + name,
		Transport: &tripper{g: e.w.gate, client: name, life: e.w.lifeOf(name)},
	}
}

// lifeOf is the life that a client made now belongs to.
func (w *world) lifeOf(name string) *life {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.byName[name]; p != nil && p.life != nil {
		return p.life
	}
	return &life{ctx: w.ctx, cancel: func(error) {}}
}

// Go starts a process: run is called with a context that ends with the process or the run. A fault may crash it
// (Options.CrashProbability): its context ends, nothing that it has not yet sent reaches a server, and when run has returned it is called
// again. A run that returns an error is called again after a while, as a kubelet does; one that returns nil has ended.
func (e *Env) Go(name string, run func(ctx context.Context) error) {
	e.alive()
	w := e.w
	if name == "" || run == nil {
		panic("simtest: env.Go needs a name and a function")
	}
	if w.byName[name] != nil {
		panic(fmt.Sprintf("simtest: env.Go: there is a process %q already; env.Restart starts it again", name))
	}
	w.body.ask(&ask{what: "env.Go", do: func() {
		p := &process{w: w, name: name, run: run}
		p.id = w.kernel.Register(p)
		w.processes = append(w.processes, p)
		w.mu.Lock()
		w.byName[name] = p
		w.mu.Unlock()
		p.start()
		w.offerCrashes()
	}})
}

// Crash ends a process as kill -9 does; it stays away until Restart.
func (e *Env) Crash(name string) {
	p := e.process("env.Crash", name)
	e.w.body.ask(&ask{what: "env.Crash", do: func() { p.want = false; p.kill(); p.want = false }})
}

// Restart crashes a process if it runs, and starts it when it has ended.
func (e *Env) Restart(name string) {
	p := e.process("env.Restart", name)
	e.w.body.ask(&ask{what: "env.Restart", do: func() {
		p.kill()
		p.want = true
		p.offerRestart()
	}})
}

func (e *Env) process(what, name string) *process {
	e.alive()
	p := e.w.byName[name]
	if p == nil {
		panic(fmt.Sprintf("simtest: %s: there is no process %q; env.Go starts one", what, name))
	}
	return p
}

// Settle lets everything happen that can without time passing.
func (e *Env) Settle() {
	e.alive()
	e.w.body.ask(&ask{what: "env.Settle", until: e.w.quiet})
}

// Advance lets d of virtual time pass, and all that happens in it and needs no more.
func (e *Env) Advance(d time.Duration) {
	e.alive()
	if d < 0 {
		panic(fmt.Sprintf("simtest: env.Advance(%v): time does not go back", d))
	}
	w := e.w
	w.body.ask(&ask{what: "env.Advance", limit: d, until: func() bool { return w.kernel.Clock().AtLimit() && w.quiet() }})
}

// Faults makes faults happen: to what is in flight, or else to what comes next. It fails the test for an unknown kind or
// target. Those that Options.Mix makes happen are others.
func (e *Env) Faults(faults ...fault.Fault) {
	e.alive()
	e.w.t.Helper()
	var err error
	e.w.body.ask(&ask{what: "env.Faults", do: func() {
		for _, f := range faults {
			if err == nil {
				err = e.w.inject(f)
			}
		}
	}})
	if err != nil {
		e.fatalf("env.Faults: %v", err)
	}
}

func (w *world) inject(f fault.Fault) error {
	if f.Target != "" && w.cluster.Client("conn/"+f.Target) == nil && w.cluster.Client(f.Target) == nil && w.clients[f.Target] {
		w.cluster.Connect(f.Target, fakeapiserver.ByChoice())
	}
	return w.cluster.Inject(f)
}

// StopFaults ends all faults for the rest of the run: what follows must converge.
func (e *Env) StopFaults() {
	e.alive()
	e.w.body.ask(&ask{what: "env.StopFaults", do: e.w.stopFaults})
}

// Seed is the run's seed.
func (e *Env) Seed() uint64 { return e.w.seed }

// Rand is a source of random numbers that the seed decides, for the body.
func (e *Env) Rand() *rand.Rand { return e.rand }

// Now is the run's time, which starts on 2000-01-01.
func (e *Env) Now() time.Time { return time.Now() }

// Context ends with the run. A body that waits for something of its own waits for this, too.
func (e *Env) Context() context.Context { return e.w.ctx }

// Cluster is the fake apiserver's inside, for tests that look there: between two calls of Env's methods nothing moves.
func (e *Env) Cluster() *fakeapiserver.Cluster { return e.w.cluster }

// alive ends whoever uses an env whose run is over.
func (e *Env) alive() {
	if e == nil || e.w == nil {
		panic("simtest: this Env was not made by Run")
	}
	if e.w.ended.Load() {
		panic("simtest: this env is used after its run: it lives as long as the body that Run calls")
	}
	if e.w.ctx.Err() != nil {
		runtime.Goexit()
	}
}

// fatalf fails the run and ends the body.
func (e *Env) fatalf(format string, args ...any) {
	w := e.w
	message := fmt.Sprintf(format, args...)
	w.body.ask(&ask{what: "a failure", do: func() { w.fail("TestBody", message) }})
}
