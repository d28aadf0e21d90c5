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
// what must hold. Only the body's goroutine may call its methods, except for RESTConfig, Now, Seed, Context, Logf, Reconciling, Get,
// List, Leader, ServeWebhooks and Cluster, which processes may call too. A method that fails the test says why in its report, and ends the body.
type Env struct {
	w    *world
	rand *rand.Rand

	doomed []string // the processes of CrashAfter
	calm   bool     // StopFaults has been called
}

func newEnv(w *world) *Env { return &Env{w: w, rand: rand.New(rand.NewPCG(w.seed, 0x656e76))} }

// RESTConfig returns the configuration of a client of the fake apiserver. Each name is one client, with its own connections,
// faults and delays. If a process of that name is running (see Go), the client works until that process crashes or ends; else until the run
// ends. Its requests then fail with an error that says so. It panics if name is empty. A run fails whose client has the name of one that faults spare or
// that [WellBehaved] leaves out: "workload", which is env's own, "garbage-collector" with Options.GarbageCollection, and "quota-controller".
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
// does (10 s of virtual time, doubled up to 5 minutes); if it returns nil, the process has ended. It panics if there is a process of that
// name already. Replicas starts several.
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

// Crash kills a process, as kill -9 does: nothing that it does from now on reaches a server. It stays down until Restart. It panics if there is
// no such process. CrashAfter chooses the moment by what happens.
func (e *Env) Crash(name string) { e.known("env.Crash", wire.AskCrash, name) }

// Restart crashes a process if it is running, and starts it again once it has ended. It panics if there is no such process.
func (e *Env) Restart(name string) { e.known("env.Restart", wire.AskRestart, name) }

func (e *Env) known(what string, kind byte, name string) {
	e.mustKnow(what, name)
	e.w.body.ask(what, kind, 0, name)
}

// knows reports whether there is such a process.
func (e *Env) knows(name string) bool {
	e.w.mu.Lock()
	defer e.w.mu.Unlock()
	return e.w.processes[name] != nil
}

// mustKnow panics if there is no such process.
func (e *Env) mustKnow(what, name string) {
	e.alive()
	if !e.knows(name) {
		panic(fmt.Sprintf("simtest: %s: there is no process %q; env.Go starts one", what, name))
	}
}

// Settle runs until nothing more can happen without virtual time passing.
func (e *Env) Settle() {
	e.alive()
	e.w.body.ask("env.Settle", wire.AskSettle, 0)
}

// Advance lets virtual time d pass, and returns when nothing more can happen without further time passing. It panics if d is negative.
func (e *Env) Advance(d time.Duration) {
	e.alive()
	if d < 0 {
		panic(fmt.Sprintf("simtest: env.Advance(%v): time cannot go backwards", d))
	}
	e.w.body.ask("env.Advance", wire.AskAdvance, d)
}

// Inject injects faults, in addition to those that Options.Mix draws. A fault hits what is in flight, or else what comes next; its fields aim it
// at a client, a verb, a resource or an object, and say when, how often (once, or fault.Lasting) and after which event:
//
//	env.Inject(fault.Fault{Kind: fault.WriteLost, Target: "controller", Verb: "create", Resource: "secrets"})
//	heal := env.Inject(fault.Fault{Kind: fault.Write503, Target: "controller", Count: fault.Lasting})
//
// The function that it returns takes back what has not struck yet; StopFaults ends what lasts, too. An unknown kind, client, replica or resource
// fails the test, and so does a target that has made no request in any seed. A client is there once its process asks for its RESTConfig. A fault of the client "workload" hits the helpers themselves.
func (e *Env) Inject(faults ...fault.Fault) (withdraw func()) {
	return e.inject("env.Inject", faults)
}

// Faults is Inject.
func (e *Env) Faults(faults ...fault.Fault) { e.inject("env.Faults", faults) }

func (e *Env) inject(call string, faults []fault.Fault) (withdraw func()) {
	e.alive()
	e.w.r.t.Helper()
	words := make([]string, len(faults))
	for n, f := range faults {
		data, err := json.Marshal(f)
		e.require(call, err)
		words[n] = string(data)
	}
	m := e.w.body.ask(call, wire.AskFaults, 0, words...)
	e.require(call, m.Error())
	var ids []string
	for n := m.Num(); n > 0 && m.Err() == nil; n-- {
		ids = append(ids, fmt.Sprint(m.Num()))
	}
	return func() {
		e.alive()
		if len(ids) > 0 {
			e.w.body.ask("the function that env.Inject returned", wire.AskWithdraw, 0, ids...)
		}
	}
}

// StopFaults ends all faults for the rest of the run, those of Inject and CrashAfter included, so that the system can converge.
func (e *Env) StopFaults() {
	e.alive()
	e.w.body.ask("env.StopFaults", wire.AskStopFaults, 0)
	e.calm = true
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

// Logf puts a line into the run's trace, at this step and virtual time: a failure shows it among the last events. Any goroutine of the run may
// call it.
func (e *Env) Logf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	e.w.event(func(p *wire.Packet) { p.Byte(wire.EventLog).Text(text) })
}

// query asks the engine something. It answers only while goroutines of the bubble run.
func (w *world) query(p *wire.Packet) (*wire.Message, error) {
	w.e.query.Lock()
	defer w.e.query.Unlock()
	if !w.turn.Load() {
		return nil, errOver
	}
	return w.e.ask(p, func(m *wire.Message) (*wire.Packet, error) {
		answer := w.hooks.convert(m, nil)
		if !w.turn.Load() { // the bubble has come to rest without it, which the engine does not expect
			return nil, errOver
		}
		return answer, nil
	})
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
