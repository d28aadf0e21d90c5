package library

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/informer"
)

// listenerModel is what a listener should be.
type listenerModel struct {
	l               *informer.Listener
	pending         []string
	initial         []bool // whether it is an add of the initial list
	syncing         bool
	period          time.Duration
	next            time.Time
	requested       time.Duration
	inFlight, crash bool // a call is in flight; the last has panicked
	lost            bool // a call of the initial list has panicked
	synced          bool
	removed         bool
	rest            time.Time // when it goes on after a panic; zero: not known yet
}

// processors hold a Processor and its listeners against a model: who is resynced and when, and what becomes of a handler that panics or is removed while
// it runs.
func processors(c *check) {
	period := []time.Duration{0, time.Second, 5 * time.Second, 20 * time.Second}[c.IntN(4)]
	synced := false
	p := &informer.Processor{ResyncCheckPeriod: period, DefaultResyncPeriod: period, UpstreamHasSynced: func() bool { return synced }}
	now, usual := start, period
	var all []*listenerModel
	effective := func(requested time.Duration) time.Duration {
		if requested == 0 || period == 0 {
			return 0
		}
		return max(requested, period)
	}
	add := func(started bool) {
		requested := []time.Duration{0, time.Millisecond, 700 * time.Millisecond, 2 * time.Second, 30 * time.Second}[c.IntN(5)]
		o := informer.ListenerOptions{ResyncPeriod: &requested}
		if c.oneIn(4) { // the informer's own, whatever others have asked for
			o.ResyncPeriod, requested = nil, usual
		}
		l, err := p.AddListener(cache.ResourceEventHandlerFuncs{}, o, now, []any{object("ns1/a", 1), "what has no key"})
		c.is("AddListener", nil, err)
		if requested > 0 {
			requested = max(requested, time.Second)
		}
		m := &listenerModel{l: l, syncing: true, requested: requested}
		if requested > 0 && requested < period {
			if started {
				m.requested = period
			} else {
				period = requested
				for _, o := range all {
					o.period = effective(o.requested)
				}
			}
		}
		m.period = effective(m.requested)
		m.next = now.Add(m.period)
		if started {
			m.pending, m.initial = []string{"add ns1/a@1", "add what has no key"}, []bool{true, true}
		}
		all = append(all, m)
	}
	for range 1 + c.IntN(3) {
		add(false)
	}
	c.starts(p)
	for n := range 60 {
		now = now.Add(time.Duration(c.IntN(3)) * 500 * time.Millisecond)
		synced = synced || n > 30
		switch c.IntN(8) {
		case 0:
			want := false
			for _, m := range all {
				if m.removed {
					continue
				}
				if m.syncing = m.period != 0 && !now.Before(m.next); m.syncing {
					want, m.next = true, now.Add(m.period)
				}
			}
			c.is("ShouldResync", want, p.ShouldResync(now))
		case 1:
			if n%16 == 0 {
				add(true)
			}
		case 2:
			if m := all[c.IntN(len(all))]; c.oneIn(3) {
				p.RemoveListener(m.l)
				m.removed, m.pending, m.initial = true, nil, nil
			}
		case 3:
			c.distribute(p, all, n)
		default:
			c.handle(all[c.IntN(len(all))], now)
		}
		for _, m := range all {
			c.listener(m, synced)
		}
	}
	c.ends(p, all)
}

// flooded has so much wait for a handler that its ring is given up once it is empty, and not before.
func (c *check) flooded() {
	if !c.oneIn(6) {
		return
	}
	p, got := &informer.Processor{}, 0
	l, err := p.AddListener(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { got++ }}, informer.ListenerOptions{}, start, nil)
	c.is("AddListener", nil, err)
	p.Start()
	for n := range 40 { // two wait at a time, wherever in the ring
		p.Distribute(informer.Notification{Type: informer.NotifyAdd, New: object("ns1/a", n)})
		p.Distribute(informer.Notification{Type: informer.NotifyAdd, New: object("ns1/b", n)})
		l.Begin()
		c.is("Peek behind a call in flight", text(object("ns1/b", n)), text(l.Peek().New))
		l.Finish()
		l.Deliver()
		if n%3 == 0 { // so that the places move
			p.Distribute(informer.Notification{Type: informer.NotifyAdd, New: object("ns2/a", n)})
			l.Deliver()
		}
	}
	got = 0
	many := 1025 + c.IntN(8)
	note := informer.Notification{Type: informer.NotifyAdd, New: object("ns1/a", 1)}
	for range many {
		p.Distribute(note)
	}
	for l.Deliver() {
	}
	c.is(fmt.Sprintf("how many of %d notifications that waited are delivered", many), many, got)
}

// starts starts a Processor that has a handler.
func (c *check) starts(p *informer.Processor) {
	c.is("AwaitsStart", true, p.AwaitsStart())
	c.is("AwaitsStart without handlers", false, (&informer.Processor{}).AwaitsStart())
	c.is("Started before Start", false, p.Started())
	p.Start()
	c.is("AwaitsStart and Started after Start", fmt.Sprint(false, true), fmt.Sprint(p.AwaitsStart(), p.Started()))
}

// ends stops a Processor.
func (c *check) ends(p *informer.Processor, all []*listenerModel) {
	p.Stop()
	c.is("Started and Stopped after Stop", fmt.Sprint(false, true), fmt.Sprint(p.Started(), p.Stopped()))
	for _, m := range all {
		c.is("Len of a listener after Stop", 0, m.l.Len())
	}
	c.calls()
	c.flooded()
}

// calls are those of a handler.
func (c *check) calls() {
	var got []string
	h := cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(obj any, initial bool) { got = append(got, fmt.Sprint("add ", text(obj), initial)) },
		UpdateFunc: func(old, obj any) { got = append(got, "update "+text(old)+" "+text(obj)) },
		DeleteFunc: func(obj any) { got = append(got, "delete "+text(obj)) },
	}
	old, obj, initial := object(c.key(), 1), object(c.key(), 2), c.oneIn(2)
	for _, t := range []informer.NotificationType{informer.NotifyAdd, informer.NotifyUpdate, informer.NotifyDelete} {
		n := informer.Notification{Type: t, Old: old, New: obj, IsInInitialList: initial}
		n.Call(h)
	}
	c.is("Call", fmt.Sprint([]string{fmt.Sprint("add ", text(obj), initial), "update " + text(old) + " " + text(obj), "delete " + text(old)}), fmt.Sprint(got))
}

// distribute tells all listeners of a change, or those that are resynced of none.
func (c *check) distribute(p *informer.Processor, all []*listenerModel, n int) {
	note := informer.Notification{Type: informer.NotifyUpdate, Key: "ns1/a", Old: object("ns1/a", n), New: object("ns1/a", n+c.IntN(2))}
	same := text(note.Old) == text(note.New)
	switch c.IntN(6) {
	case 0, 1:
		note, same = informer.Notification{Type: informer.NotifyAdd, Key: "ns1/b", New: object("ns1/b", n), IsInInitialList: c.oneIn(2)}, false
	case 2: // what has no resourceVersion has changed
		note.Old, note.New, same = "what has no metadata", "what has none either", false
	}
	p.Distribute(note)
	for _, m := range all {
		if !m.removed && (!same || m.syncing) {
			m.pending, m.initial = append(m.pending, fmt.Sprintf("%v %s", note.Type, text(note.New))), append(m.initial, note.IsInInitialList)
		}
	}
}

// handle begins a call of a listener's handler, or ends one.
func (c *check) handle(m *listenerModel, now time.Time) {
	if m.inFlight {
		m.inFlight = false
		crashed := c.oneIn(4)
		if len(m.pending) > 0 {
			m.lost = m.lost || crashed && m.initial[0]
			m.pending, m.initial = m.pending[1:], m.initial[1:]
		}
		if crashed {
			m.l.Crash()
			m.crash, m.rest = true, time.Time{}
		} else {
			m.l.Finish()
		}
		return
	}
	until, active := m.l.CrashBackoff(now)
	want := m.crash && len(m.pending) > 0
	if want && m.rest.IsZero() {
		m.rest = now.Add(time.Second)
	}
	if want && !now.Before(m.rest) {
		want, m.crash = false, false
	}
	c.is("CrashBackoff", want, active)
	if want {
		c.is("CrashBackoff: until", m.rest, until)
	}
	began := m.l.Begin()
	c.is("Begin: there is something", len(m.pending) > 0 && !m.crash, began != nil)
	if began != nil && len(m.pending) > 0 {
		c.is("Begin", m.pending[0], fmt.Sprintf("%v %s", began.Type, text(began.New)))
		m.inFlight = true
	}
}

// listener compares a listener with its model.
func (c *check) listener(m *listenerModel, synced bool) {
	want := len(m.pending)
	if m.inFlight && want > 0 {
		want--
	}
	c.is("Len of a listener", want, m.l.Len())
	peeked := ""
	if next := m.l.Peek(); next != nil {
		peeked = fmt.Sprintf("%v %s", next.Type, text(next.New))
	}
	c.is("Peek", strings.Join(m.pending[len(m.pending)-want:min(len(m.pending), len(m.pending)-want+1)], ""), peeked)
	c.is("Removed, and a call in flight", [2]bool{m.removed, m.inFlight}, [2]bool{m.l.Removed(), m.l.InFlight() != nil})
	if m.removed {
		return
	}
	c.is("ResyncPeriod", m.period, m.l.ResyncPeriod())
	c.is("Syncing", m.syncing, m.l.Syncing())
	c.is("NextResync", m.next, m.l.NextResync())
	waits := m.lost
	for _, initial := range m.initial {
		waits = waits || initial
	}
	m.synced = m.synced || synced && !waits
	c.is("HasSynced of a listener", m.synced, m.l.HasSynced())
}
