package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// restart restarts an informer or a replica. An informer is stopped, unless it is already, and then started again, which is a choice of its
// own: another life of its name, with the same configuration, and with the handlers, workers and indexes that it has. Of a replica the watches
// end, and its cache is empty until it has read the store again.
//
//	restart i1
//	restart replica/0
var restartSpec = spec{
	name:  "restart",
	usage: "restart INFORMER|replica/N",
	doc: "stops an informer, and starts another with its name, configuration, handlers, workers and indexes: in an exploration, other things may happen in between. " +
		"One that is stopped is only started. A replica's watches end, and its cache is empty until it has read the store",
	parse: func(r *script.ArgReader) Command { return &restartCmd{r.Next("informer or replica").Value} },
}

type restartCmd struct{ target string }

func (c *restartCmd) ofReplica() bool { return strings.Contains(c.target, "/") }

func (c *restartCmd) faultKinds() []string {
	if c.ofReplica() {
		return []string{string(fault.ReplicaRestart)}
	}
	return nil
}

func (c *restartCmd) declare(d *declarations, s *script.Command) error {
	if c.ofReplica() {
		return needReplica(d, s, c.target)
	}
	return d.need(s, c.target, "informer")
}

func (c *restartCmd) run(w *World) error {
	if c.ofReplica() {
		return w.cluster.Inject(fault.Fault{Kind: fault.ReplicaRestart, Target: c.target})
	}
	if !w.stopped[c.target] {
		w.stopInformer(c.target)
	}
	w.script.starts = c.target
	return nil
}

// kindStart is the choice that starts an informer again. The script goes on after it.
var kindStart = sim.RegisterKind("start", sim.ClassScript)

// stopInformer stops an informer.
func (w *World) stopInformer(name string) {
	w.informers[name].Stop()
	w.stopped[name] = true
	w.live = slices.DeleteFunc(slices.Clone(w.live), func(inf subjects.Informer) bool { return inf.Name() == name })
}

// startAgain starts an informer that is stopped again.
func (w *World) startAgain(name string) error {
	before := w.informers[name]
	inf, err := w.subject.Restart(before)
	if err != nil {
		return fmt.Errorf("restart %s: %w", name, err)
	}
	w.nameInformer(name, inf)
	w.stopped[name] = false
	w.inOrder[slices.Index(w.inOrder, before)] = inf
	w.live = nil
	for _, x := range w.inOrder {
		if !w.stopped[x.Name()] {
			w.live = append(w.live, x)
		}
	}
	for _, h := range inf.Handlers() {
		w.handlers[h] = inf
	}
	if r := w.refusals[name]; r != nil {
		r.inf = inf
	}
	return nil
}
