package world

import (
	"bytes"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// inForce says which faults last, or wait for a victim.
func (w *world) inForce() []string {
	var all []string
	for _, f := range w.pendingFaults() {
		text := string(f.Fault.Kind)
		if f.Fault.Target != "" {
			text += " of " + f.Fault.Target
		}
		if f.Fault.Resource != "" {
			text += ", " + f.Fault.Resource
		}
		if f.State != fakeapiserver.FaultActive {
			text += " (" + f.State + ")"
		}
		all = append(all, text)
	}
	return all
}

// notRunning says which processes do not run, and why.
func (w *world) notRunning() []string {
	var all []string
	for _, p := range w.processes {
		state := ""
		switch {
		case p.panicked != "":
			state = "has panicked"
		case p.running && p.life.dead():
			state = "has crashed, and its function has not returned yet"
		case !p.running && p.want:
			state = "is down, and waits for its restart"
		case !p.running && p.life.dead() && p.err == nil:
			state = "has ended"
		}
		if p.err != nil && !p.running {
			state += "; it last returned the error: " + p.err.Error()
		}
		if state != "" {
			all = append(all, p.name+" "+state)
		}
	}
	return all
}

// own returns the clients of the test's body, as actors: those that are no process's.
func (w *world) own() (all []string) {
	for _, name := range w.asking() {
		if w.byName[name] == nil {
			all = append(all, "conn/"+name)
		}
	}
	return all
}

// exited returns the processes that are down because their function has returned an error, and that.
func (w *world) exited() map[string]string {
	all := map[string]string{}
	for _, p := range w.processes {
		if p.err != nil && !p.running && p.want {
			all[p.name] = p.err.Error()
		}
	}
	return all
}

// aftermath returns what is printed between the failure and the last events, which are the story.
func (o *outcome) aftermath(story []reports.Line) []reports.Section {
	tr, err := sim.NewTraceReader("the run", bytes.NewReader(o.trace.Bytes()))
	if err != nil {
		return nil
	}
	of := reports.Involved{Message: o.why()}
	if o.violation != nil {
		of = reports.Involved{Key: o.violation.Key, Message: o.violation.Message}
	}
	if o.escaped != nil && o.violation == nil {
		of.Own = o.own
	}
	if len(story) > 0 {
		of.Told = story[0].Step
	}
	sections, _ := reports.Aftermath(tr, of, o.inForce) // of a trace that was cut off, too
	if len(o.deleted) > 0 {
		sections = append([]reports.Section{{Title: "what the run deleted when the body had ended", Lines: o.deleted}}, sections...)
	}
	if unattended := o.waitsInVain(); len(unattended) > 0 {
		sections = append([]reports.Section{{Title: "what nobody in this cluster acts on", Lines: unattended}}, sections...)
	}
	if len(o.notRunning) > 0 {
		sections = append([]reports.Section{{Title: "processes that do not run", Lines: o.notRunning}}, sections...)
	}
	if len(o.waiting) > 0 {
		sections = append(sections, reports.Section{Title: "where goroutines waited in code of yours when the time was up", Lines: o.waiting})
	}
	if o.unended != nil && o.err == nil {
		sections = append(sections, reports.Section{Title: "and after the failure, when the context was canceled", Lines: []string{o.unended.Error()}})
	}
	return sections
}
