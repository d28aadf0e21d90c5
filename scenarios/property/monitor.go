package property

import (
	"cmp"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// Monitor has properties watch one run, until the first of them is broken. It is a sim.Observer.
type Monitor struct {
	w      World
	all    []watching
	byKind [][]*watching // by kind, those that look at such records
	steps  []*watching   // those that look at whole steps
	found  *reports.Violation
}

// watching is a property in this run.
type watching struct {
	name, statement string
	times           uint64 // that it was asked to judge something
	Checker
}

var _ sim.Observer = (*Monitor)(nil)

// NewMonitor begins to watch a run.
func NewMonitor(w World, all []Property) *Monitor {
	m := &Monitor{w: w, all: make([]watching, len(all))}
	for n := range all {
		c := &m.all[n]
		c.name, c.statement, c.Checker = all[n].Name, all[n].Statement, all[n].New()
		if c.StepEnd != nil {
			m.steps = append(m.steps, c)
		}
		if c.Record == nil {
			continue
		}
		for _, k := range all[n].Kinds {
			for int(k) >= len(m.byKind) {
				m.byKind = append(m.byKind, nil)
			}
			m.byKind[k] = append(m.byKind[k], c)
		}
	}
	return m
}

// Violation is the first that was reported, nil as long as all properties hold.
func (m *Monitor) Violation() *reports.Violation { return m.found }

// Checked says how often each property was asked to judge something: a record, a step, or the end.
func (m *Monitor) Checked() []reports.Checked {
	all := make([]reports.Checked, len(m.all))
	for n := range m.all {
		all[n] = reports.Checked{Name: m.all[n].name, Times: m.all[n].times}
	}
	return all
}

// Statement is what the broken property says of every run; "" if none is broken, or the run itself has found it.
func (m *Monitor) Statement() string {
	for n := range m.all {
		if m.found != nil && m.all[n].name == m.found.Property {
			return m.all[n].statement
		}
	}
	return ""
}

// Report notes that a property is broken now, unless another was broken before. A violation that names a property keeps it.
func (m *Monitor) Report(property string, v *reports.Violation) {
	if m.found != nil {
		return
	}
	v.Property = cmp.Or(v.Property, property)
	v.Step, v.At = m.w.Kernel().Steps(), m.w.Kernel().Elapsed()
	m.found = v
}

// Record implements sim.Observer.
func (m *Monitor) Record(r *sim.Record) {
	if int(r.Kind) >= len(m.byKind) || m.found != nil {
		return
	}
	for _, c := range m.byKind[r.Kind] {
		c.times++
		if v := c.Record(m.w, r); v != nil {
			m.Report(c.name, v)
			return
		}
	}
}

// StepEnd implements sim.Observer.
func (m *Monitor) StepEnd(*sim.StepInfo) {
	for _, c := range m.steps {
		if m.found != nil {
			return
		}
		c.times++
		if v := c.StepEnd(m.w); v != nil {
			m.Report(c.name, v)
		}
	}
}

// End has the properties judge what is left.
func (m *Monitor) End() {
	for n := range m.all {
		if c := &m.all[n]; m.found == nil && c.End != nil {
			c.times++
			if v := c.End(m.w); v != nil {
				m.Report(c.name, v)
			}
		}
	}
}
