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
	Checker
	of     *Property
	spared uint64 // what it was not asked to judge, because another property was broken before it
	ended  bool   // it has judged the end
}

// watchers are those that look at one kind of records, as indexes into Monitor.all. What they are asked is counted once for all of them: a record may
// have twenty.
type watchers struct {
	records uint64
	indexes []uint16
}

// judge is the StepEnd of a property.
type judge struct {
	stepEnd func(w World) *reports.Violation
	pending *bool
	index   uint16
}

var _ sim.Observer = (*Monitor)(nil)

// always is the Pending of a property that has none.
var always = true

// NewMonitor begins to watch a run. The properties must not change while it lasts.
func NewMonitor(w World, all []Property) *Monitor {
	m := &Monitor{w: w, all: make([]watching, len(all))}
	over := 0
	for n := range all {
		c := &m.all[n]
		c.of, c.Checker = &all[n], all[n].New()
		if c.StepEnd != nil {
			over++
		}
	}
	m.steps = make([]judge, 0, over)
	for n := range m.all {
		if c := &m.all[n]; c.StepEnd != nil {
			m.steps = append(m.steps, judge{stepEnd: c.StepEnd, pending: cmp.Or(c.Pending, &always), index: uint16(n)})
		}
	}
	m.assign()
	return m
}

// kinds are the kinds of records that it looks at.
func (c *watching) kinds() []sim.Kind {
	if c.Record == nil {
		return nil
	}
	return c.of.Kinds
}

// assign has each kind of records looked at by the properties that name it. There are hundreds of pairs, for which room is made once.
func (m *Monitor) assign() {
	most, pairs := -1, 0
	for n := range m.all {
		for _, k := range m.all[n].kinds() {
			most = max(most, int(k))
			pairs++
		}
	}
	m.byKind = make([]watchers, most+1)
	for n := range m.all {
		for _, k := range m.all[n].kinds() {
			m.byKind[k].records++ // for now, how many look at it
		}
	}
	room := make([]uint16, pairs)
	for k := range m.byKind {
		of := &m.byKind[k]
		of.indexes, room = room[:0:of.records], room[of.records:]
		of.records = 0
	}
	for n := range m.all {
		for _, k := range m.all[n].kinds() {
			m.byKind[k].indexes = append(m.byKind[k].indexes, uint16(n))
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
		for _, k := range c.kinds() {
			times += m.byKind[k].records
		}
		if c.StepEnd != nil {
			times += m.stepsOver
		}
		if c.End != nil {
			times += m.ends
		}
		all[n] = reports.Checked{Name: c.of.Name, Times: times}
	}
	return all
}

// Statement is what the broken property says of every run; "" if none is broken, or the run itself has found it.
func (m *Monitor) Statement() string {
	for n := range m.all {
		if of := m.all[n].of; m.found != nil && of.Name == m.found.Property {
			return of.Statement
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
	for i, n := range of.indexes {
		if v := m.all[n].Record(m.w, r); v != nil {
			m.broken(n, v)
			for _, later := range of.indexes[i+1:] {
				m.all[later].spared++
			}
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
				m.broken(j.index, v)
				for _, later := range m.steps[n+1:] {
					m.all[later.index].spared++
				}
				return
			}
		}
	}
}

// broken reports what the n-th property has found. Those that would have judged the same after it are not asked.
func (m *Monitor) broken(n uint16, v *reports.Violation) { m.Report(m.all[n].of.Name, v) }

// Conclude has some properties judge what is left, now. What comes later is not for them.
func (m *Monitor) Conclude(some func(of *Property) bool) {
	for n := range m.all {
		c := &m.all[n]
		if !some(c.of) {
			continue
		}
		m.judgeEnd(c)
		if c.Record != nil {
			c.Record = func(World, *sim.Record) *reports.Violation { c.spared++; return nil }
		}
		for i := range m.steps {
			if m.steps[i].index == uint16(n) {
				m.steps[i].pending, m.steps[i].stepEnd = &always, func(World) *reports.Violation { c.spared++; return nil }
			}
		}
	}
}

// End has the properties judge what is left.
func (m *Monitor) End() {
	m.ends++
	for n := range m.all {
		m.judgeEnd(&m.all[n])
	}
}

// judgeEnd has a property judge the end, once.
func (m *Monitor) judgeEnd(c *watching) {
	switch {
	case c.End == nil || c.ended:
		return
	case m.found != nil:
		c.spared++
	default:
		if v := c.End(m.w); v != nil {
			m.Report(c.of.Name, v)
		}
	}
	c.ended = true
}
