package property

import (
	"cmp"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// Monitor has properties watch one run, until the first of them is broken. It is a sim.Observer.
type Monitor struct {
	w         World
	all       []watching
	byKind    []watchers // by kind, those that look at such records
	steps     []judge    // those that look at whole steps
	stepsOver uint64     // that they were asked to judge
	ends      uint64     // how often the end was judged
	found     *reports.Violation
}

// watching is a property in this run.
type watching struct {
	name, statement string
	kinds           []sim.Kind
	spared          uint64 // what it was not asked to judge, because another property was broken before it
	Checker
}

// watchers are those that look at one kind of records. What they are asked is counted once for all of them: a record may have twenty.
type watchers struct {
	records uint64
	judges  []judge
}

// judge is one function of a property: its Record, or its StepEnd.
type judge struct {
	record  func(w World, r *sim.Record) *reports.Violation
	stepEnd func(w World) *reports.Violation
	pending *bool
	of      *watching
}

var _ sim.Observer = (*Monitor)(nil)

// always is the Pending of a property that has none.
var always = true

// NewMonitor begins to watch a run.
func NewMonitor(w World, all []Property) *Monitor {
	m := &Monitor{w: w, all: make([]watching, len(all)), steps: make([]judge, 0, len(all))}
	for n := range all {
		c := &m.all[n]
		c.name, c.statement, c.Checker = all[n].Name, all[n].Statement, all[n].New()
		if c.StepEnd != nil {
			m.steps = append(m.steps, judge{stepEnd: c.StepEnd, pending: cmp.Or(c.Pending, &always), of: c})
		}
		if c.Record == nil {
			continue
		}
		c.kinds = all[n].Kinds
	}
	m.assign()
	return m
}

// assign has each kind of records looked at by the properties that name it. There are hundreds of pairs, for which room is made once.
func (m *Monitor) assign() {
	var count []int // by kind
	pairs := 0
	for n := range m.all {
		for _, k := range m.all[n].kinds {
			if missing := int(k) + 1 - len(count); missing > 0 {
				count = append(count, make([]int, missing)...)
			}
			count[k]++
			pairs++
		}
	}
	m.byKind = make([]watchers, len(count))
	room := make([]judge, pairs)
	for k, n := range count {
		m.byKind[k].judges, room = room[:0:n], room[n:]
	}
	for n := range m.all {
		c := &m.all[n]
		for _, k := range c.kinds {
			m.byKind[k].judges = append(m.byKind[k].judges, judge{record: c.Record, of: c})
		}
	}
}

// Violation is the first that was reported, nil as long as all properties hold.
func (m *Monitor) Violation() *reports.Violation { return m.found }

// Checked says how often each property was asked to judge something: a record, a step, or the end.
func (m *Monitor) Checked() []reports.Checked {
	all := make([]reports.Checked, len(m.all))
	for n := range m.all {
		c := &m.all[n]
		times := -c.spared
		for _, k := range c.kinds {
			times += m.byKind[k].records
		}
		if c.StepEnd != nil {
			times += m.stepsOver
		}
		if c.End != nil {
			times += m.ends
		}
		all[n] = reports.Checked{Name: c.name, Times: times}
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
	of := &m.byKind[r.Kind]
	of.records++
	for n := range of.judges {
		if v := of.judges[n].record(m.w, r); v != nil {
			m.broken(of.judges, n, v)
			return
		}
	}
}

// StepEnd implements sim.Observer.
func (m *Monitor) StepEnd(*sim.StepInfo) {
	if m.found != nil {
		return
	}
	m.stepsOver++
	for n := range m.steps {
		if j := &m.steps[n]; *j.pending {
			if v := j.stepEnd(m.w); v != nil {
				m.broken(m.steps, n, v)
				return
			}
		}
	}
}

// broken reports what the n-th of several has found. Those after it are not asked.
func (m *Monitor) broken(judges []judge, n int, v *reports.Violation) {
	m.Report(judges[n].of.name, v)
	for _, j := range judges[n+1:] {
		j.of.spared++
	}
}

// End has the properties judge what is left.
func (m *Monitor) End() {
	m.ends++
	for n := range m.all {
		c := &m.all[n]
		switch {
		case c.End == nil:
		case m.found != nil:
			c.spared++
		default:
			if v := c.End(m.w); v != nil {
				m.Report(c.name, v)
			}
		}
	}
}
