package fakeserver

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/internal/same"
	"github.com/informersim/informersim/sim"
)

// kindAsk is a step of a round: a request is sent, or the server is compacted or restarted.
var kindAsk = sim.RegisterKind("ask", sim.ClassScript)

// most is how many steps a round may take: it has some hundred.
const most = 20_000

// pods are a resource with namespaces, whose objects have a Go type.
var pods = store.Resource{Version: "v1", Plural: "pods", Kind: "Pod", Namespaced: true, New: func() runtime.Object { return &object{} }}

// driver steps a server's kernel. What it is told to do happens in a step of its own.
type driver struct {
	kernel *sim.Kernel
	id     sim.ActorID
	do     func()
	inside bool // a step
}

// Name implements sim.Actor.
func (*driver) Name() string { return "client" }

// Apply implements sim.Actor.
func (d *driver) Apply(sim.Choice) {
	d.inside = true
	d.do()
	d.do, d.inside = nil, false
}

// now does something in a step, as soon as that is picked.
func (d *driver) now(f func()) {
	if d.inside {
		f()
		return
	}
	d.do = f
	d.kernel.Offer(d.id, kindAsk, 0)
	for d.do != nil && d.kernel.Step() {
	}
}

// rest steps until nothing is left but that time passes.
func (d *driver) rest() {
	for !d.kernel.Quiet() && d.kernel.Step() {
		if d.kernel.Steps() > most {
			panic("it does not come to rest")
		}
	}
}

// passes lets time pass.
func (d *driver) passes(by time.Duration) {
	clock := d.kernel.Clock()
	clock.LimitTo(by)
	for !clock.AtLimit() && d.kernel.Step() {
	}
	clock.Freeze()
	d.rest()
}

// verdict is the first difference from what a model says.
type verdict struct{ wrong string }

func (v *verdict) is(what string, want, got any) {
	if v.wrong == "" && !same.Plainly(want, got) && fmt.Sprint(want) != fmt.Sprint(got) {
		v.wrong = fmt.Sprintf("%s: %v, want %v", what, got, want)
	}
}
