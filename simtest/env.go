package simtest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informersim/informersim/simtest/fault"
	"github.com/informersim/informersim/simtest/internal/wire"
)

// Env is the test body's handle on one run: it starts processes, writes objects, injects faults, lets time pass and states
// what must hold. Only the body's goroutine may call its methods, except for RESTConfig, Now, Seed, Context and Logf, which processes
// may call too.
type Env struct {
	w    *world
	rand *rand.Rand
}

func newEnv(w *world) *Env { return &Env{w: w, rand: rand.New(rand.NewPCG(w.seed, 0x656e76))} }

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
		Transport: &tripper{w: e.w, client: name, life: e.w.lifeOf(name)},
	}
}

// Go starts a process: it calls run on a goroutine of its own, with a context that is canceled when the process crashes or the
// simulation ends. If a fault crashes it (Options.CrashProbability), nothing that it has not yet sent reaches a server, and
// after run has returned the process is restarted. If run returns an error, it is called again after a backoff, as the kubelet
// does; if it returns nil, the process has ended.
func (e *Env) Go(name string, run func(ctx context.Context) error) {
	e.alive()
	if name == "" || run == nil {
		panic("simtest: env.Go needs a name and a function")
	}
	e.w.mu.Lock()
	known := e.w.processes[name] != nil
	if !known {
		e.w.processes[name] = &process{run: run}
	}
	e.w.mu.Unlock()
	if known {
		panic(fmt.Sprintf("simtest: env.Go: there is already a process %q; env.Restart starts it again", name))
	}
	e.w.body.ask("env.Go", wire.AskStart, 0, name)
}

// Crash kills a process, as kill -9 does; it stays down until Restart.
func (e *Env) Crash(name string) { e.known("env.Crash", wire.AskCrash, name) }

// Restart crashes a process if it is running, and starts it again once it has ended.
func (e *Env) Restart(name string) { e.known("env.Restart", wire.AskRestart, name) }

func (e *Env) known(what string, kind byte, name string) {
	e.alive()
	e.w.mu.Lock()
	p := e.w.processes[name]
	e.w.mu.Unlock()
	if p == nil {
		panic(fmt.Sprintf("simtest: %s: there is no process %q; env.Go starts one", what, name))
	}
	e.w.body.ask(what, kind, 0, name)
}

// Settle runs until nothing more can happen without time passing.
func (e *Env) Settle() {
	e.alive()
	e.w.body.ask("env.Settle", wire.AskSettle, 0)
}

// Advance lets virtual time d pass, and returns when nothing more can happen without further time passing.
func (e *Env) Advance(d time.Duration) {
	e.alive()
	if d < 0 {
		panic(fmt.Sprintf("simtest: env.Advance(%v): time cannot go backwards", d))
	}
	e.w.body.ask("env.Advance", wire.AskAdvance, d)
}

// Faults injects faults: each hits what is in flight, or else what comes next. An unknown kind or target fails the test. These
// faults come in addition to those that Options.Mix draws.
func (e *Env) Faults(faults ...fault.Fault) {
	e.alive()
	e.w.r.t.Helper()
	var words []string
	for _, f := range faults {
		data, err := json.Marshal(f)
		if err != nil {
			e.fatalf("env.Faults: %v", err)
		}
		words = append(words, string(data))
	}
	if err := e.w.body.ask("env.Faults", wire.AskFaults, 0, words...).Error(); err != nil {
		e.fatalf("env.Faults: %v", err)
	}
}

// StopFaults ends all faults for the rest of the run, so that the system can converge.
func (e *Env) StopFaults() {
	e.alive()
	e.w.body.ask("env.StopFaults", wire.AskStopFaults, 0)
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

// Logf puts a line into the run's trace, at this step.
func (e *Env) Logf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	e.w.event(func(p *wire.Packet) { p.Byte(wire.EventLog).Text(text) })
}

// Cluster is the fake apiserver as seen by tests that inspect it.
type Cluster struct{ w *world }

// ClusterState is a fake apiserver's state. Between two calls of Env's methods nothing there changes.
type ClusterState struct {
	Revision int64  // the Store's
	Steps    uint64 // of the run
	Faults   int    // that have been injected so far
}

// Cluster returns the fake apiserver.
func (e *Env) Cluster() Cluster { return Cluster{e.w} }

// State asks for the state.
func (c Cluster) State() (ClusterState, error) {
	m, err := c.w.query(wire.New(wire.Query).Byte(wire.QueryState))
	if err != nil {
		return ClusterState{}, err
	}
	var s wire.State
	m.JSON(&s)
	return ClusterState(s), m.Err()
}

// query asks the engine something. It answers only while goroutines of the bubble run.
func (w *world) query(p *wire.Packet) (*wire.Message, error) {
	if !w.turn.Load() {
		return nil, errOver
	}
	return w.e.ask(p)
}

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

// fail fails the run and ends the body.
func (e *Env) fail(property, message string) {
	e.w.body.ask("a failure", wire.AskFail, 0, property, message)
}

func (e *Env) fatalf(format string, args ...any) { e.fail("TestBody", fmt.Sprintf(format, args...)) }
