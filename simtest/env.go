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

// Env is the test body's handle on one run: it starts processes, writes objects, injects faults, lets time pass and states
// what must hold. Only the body's goroutine may call its methods, except for RESTConfig, Now, Seed and Context, which processes
// may call too.
type Env struct {
	w    *world
	rand *rand.Rand
}

// RESTConfig returns the configuration of a client of the fake apiserver. Each name is one client, with its own connections,
// faults and delays. If a process of that name is running (see Go), the client works until that process crashes or ends.
func (e *Env) RESTConfig(name string) *rest.Config {
	e.alive()
	if name == "" {
		panic("simtest: env.RESTConfig needs a client name")
	}
	return &rest.Config{
		Host:      "http://sim",
		QPS:       -1, // client-go's own rate limiter would order requests by which goroutine came first
		UserAgent: "simtest/" + name,
		Transport: &tripper{g: e.w.gate, client: name, life: e.w.lifeOf(name)},
	}
}

// lifeOf returns the life that a client created now belongs to.
func (w *world) lifeOf(name string) *life {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.byName[name]; p != nil && p.life != nil {
		return p.life
	}
	return &life{ctx: w.ctx, cancel: func(error) {}}
}

// Go starts a process: it calls run on a goroutine of its own, with a context that is canceled when the process crashes or the
// simulation ends. If a fault crashes it (Options.CrashProbability), nothing that it has not yet sent reaches a server, and
// after run has returned the process is restarted. If run returns an error, it is called again after a backoff, as the kubelet
// does; if it returns nil, the process has ended.
func (e *Env) Go(name string, run func(ctx context.Context) error) {
	e.alive()
	w := e.w
	if name == "" || run == nil {
		panic("simtest: env.Go needs a name and a function")
	}
	if w.byName[name] != nil {
		panic(fmt.Sprintf("simtest: env.Go: there is already a process %q; env.Restart starts it again", name))
	}
	w.body.call(&call{name: "env.Go", do: func() {
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

// Crash kills a process, as kill -9 does; it stays down until Restart.
func (e *Env) Crash(name string) {
	p := e.process("env.Crash", name)
	e.w.body.call(&call{name: "env.Crash", do: func() { p.want = false; p.kill(); p.want = false }})
}

// Restart crashes a process if it is running, and starts it again once it has ended.
func (e *Env) Restart(name string) {
	p := e.process("env.Restart", name)
	e.w.body.call(&call{name: "env.Restart", do: func() {
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

// Settle runs until nothing more can happen without time passing.
func (e *Env) Settle() {
	e.alive()
	e.w.body.call(&call{name: "env.Settle", until: e.w.quiet})
}

// Advance lets virtual time d pass, and returns when nothing more can happen without further time passing.
func (e *Env) Advance(d time.Duration) {
	e.alive()
	if d < 0 {
		panic(fmt.Sprintf("simtest: env.Advance(%v): time cannot go backwards", d))
	}
	w := e.w
	w.body.call(&call{name: "env.Advance", limit: d, until: func() bool { return w.kernel.Clock().AtLimit() && w.quiet() }})
}

// Faults injects faults: each hits what is in flight, or else what comes next. An unknown kind or target fails the test. These
// faults come in addition to those that Options.Mix draws.
func (e *Env) Faults(faults ...fault.Fault) {
	e.alive()
	e.w.t.Helper()
	var err error
	e.w.body.call(&call{name: "env.Faults", do: func() {
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

// StopFaults ends all faults for the rest of the run, so that the system can converge.
func (e *Env) StopFaults() {
	e.alive()
	e.w.body.call(&call{name: "env.StopFaults", do: e.w.stopFaults})
}

// Seed returns the run's seed.
func (e *Env) Seed() uint64 { return e.w.seed }

// Rand returns a random source for the body, seeded by the run's seed.
func (e *Env) Rand() *rand.Rand { return e.rand }

// Now returns the run's virtual time, which starts at 2000-01-01.
func (e *Env) Now() time.Time { return time.Now() }

// Context returns a context that is canceled when the run ends. A body that waits for something of its own should also wait
// for this.
func (e *Env) Context() context.Context { return e.w.ctx }

// Cluster returns the fake apiserver's internals, for tests that inspect them. Between two calls of Env's methods nothing there
// changes.
func (e *Env) Cluster() *fakeapiserver.Cluster { return e.w.cluster }

// alive panics if the env's run has ended, and ends the calling goroutine if it is about to.
func (e *Env) alive() {
	if e == nil || e.w == nil {
		panic("simtest: this Env was not made by Run")
	}
	if e.w.ended.Load() {
		panic("simtest: this env was used after its run: it is valid only while the body runs")
	}
	if e.w.ctx.Err() != nil {
		runtime.Goexit()
	}
}

// fatalf fails the run and ends the body.
func (e *Env) fatalf(format string, args ...any) {
	w := e.w
	message := fmt.Sprintf(format, args...)
	w.body.call(&call{name: "a failure", do: func() { w.fail("TestBody", message) }})
}
