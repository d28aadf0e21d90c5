package subjects

import (
	"testing"
	"time"

	"github.com/informersim/informersim/sim"
)

// asker asks for plans within steps, where numbers can be drawn.
type asker struct {
	k   *sim.Kernel
	id  sim.ActorID
	ask func()
}

var kindAsk = sim.RegisterKind("ask", sim.ClassAction)

func (*asker) Name() string       { return "asker" }
func (a *asker) Apply(sim.Choice) { a.ask() }

func ask(t *testing.T, seed uint64, f func(*CallFaults)) {
	t.Helper()
	k := sim.NewKernel(sim.Options{Seed: seed, Strategy: sim.NewFIFO()})
	a := &asker{k: k, ask: func() { f(NewCallFaults(k, "c1")) }}
	a.id = k.Register(a)
	k.Offer(a.id, kindAsk, 0)
	if !k.Step() || k.Err() != nil {
		t.Fatalf("no step: %v", k.Err())
	}
}

// A fault hits as many calls as it states; one for a key takes precedence over one for all; a new one replaces the old one.
func TestCallFaults(t *testing.T) {
	ask(t, 1, func(c *CallFaults) {
		if v := c.Next("a"); v != (CallPlan{}) {
			t.Errorf("without faults: %+v", v)
		}
		c.Inject(CallFault{Fails: Rate{Times: 2}, Takes: time.Second})
		c.Inject(CallFault{Key: "b", Panics: Always})
		for n, want := range []struct {
			key string
			v   CallPlan
		}{
			{"a", CallPlan{Takes: time.Second, Fails: true}}, {"b", CallPlan{Panics: true}}, {"c", CallPlan{Takes: time.Second, Fails: true}},
			{"a", CallPlan{Takes: time.Second}}, {"b", CallPlan{Panics: true}},
		} {
			if v := c.Next(want.key); v != want.v {
				t.Errorf("call %d, of %s: %+v, want %+v", n+1, want.key, v, want.v)
			}
		}
		c.Inject(CallFault{Fails: Rate{Times: 1}, Panics: Rate{Times: 1}})
		if v := c.Next("a"); v != (CallPlan{Panics: true}) {
			t.Errorf("a call that panics must not fail too, nor take the old fault's time: %+v", v)
		}
		if v := c.Next("a"); v != (CallPlan{Fails: true}) {
			t.Errorf("a panic used up a failure: %+v", v)
		}
		c.Clear()
		if v := c.Next("b"); v != (CallPlan{}) {
			t.Errorf("cleared: %+v", v)
		}
	})
	var none *CallFaults
	if v := none.Next("a"); v != (CallPlan{}) {
		t.Errorf("a nil CallFaults: %+v", v)
	}
}

// Draws for one key do not depend on calls about others.
func TestCallFaultOdds(t *testing.T) {
	draw := func(seed uint64, others int) (fails []bool) {
		ask(t, seed, func(c *CallFaults) {
			c.Inject(CallFault{Fails: Rate{Odds: 1 << 15}})
			for range 64 {
				for range others {
					c.Next("b")
				}
				fails = append(fails, c.Next("a").Fails)
			}
		})
		return fails
	}
	count := func(all []bool) (n int) {
		for _, f := range all {
			if f {
				n++
			}
		}
		return n
	}
	alone, among, next := draw(7, 0), draw(7, 3), draw(8, 0)
	if n := count(alone); n < 16 || n > 48 {
		t.Errorf("%d of 64 calls fail with a probability of a half", n)
	}
	same, differ := true, false
	for i := range alone {
		same = same && alone[i] == among[i]
		differ = differ || alone[i] != next[i]
	}
	if !same || !differ {
		t.Errorf("the same among others: %v; another seed differs: %v", same, differ)
	}
}
