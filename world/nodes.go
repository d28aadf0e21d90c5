package world

import (
	"slices"

	"github.com/informersim/informersim/fakeapiserver/controllers"
	"github.com/informersim/informersim/fakeapiserver/controllers/stages"
	"github.com/informersim/informersim/sim"
)

var kindAddNodes = sim.RegisterKind("add-nodes", sim.ClassAction)

// nodes is the actor that adds the cluster's nodes, before the test's body begins.
type nodes struct {
	w     *world
	added bool
}

// Name implements sim.Actor.
func (*nodes) Name() string { return "nodes" }

// Apply implements sim.Actor.
func (n *nodes) Apply(sim.Choice) {
	n.added = true
	if err := controllers.AddNodes(n.w.cluster, n.w.o.Nodes); err != nil {
		n.w.kernel.Fail(err)
	}
}

// addNodes adds the nodes of the options.
func (w *world) addNodes() {
	if w.o.Nodes == 0 {
		return
	}
	n := &nodes{w: w}
	w.kernel.Offer(w.kernel.Register(n), kindAddNodes, 0)
	for !n.added && w.kernel.Err() == nil && w.monitor.Violation() == nil {
		w.step()
	}
}

// startNodes starts what makes Pods and other objects go on by themselves.
func (w *world) startNodes() error {
	all := w.o.stages
	if w.config.podFaults {
		all = slices.Clone(all)
		for _, name := range []string{"pod-faults", "node-faults"} {
			s, err := stages.Set(name)
			if err != nil {
				return err
			}
			all = append(all, s...)
		}
		all = stages.Likely(all, w.config.likely)
	}
	var err error
	w.stages, err = controllers.StartNodes(w.cluster, controllers.Options{}, all, w.o.Nodes > 0, nil)
	return err
}
