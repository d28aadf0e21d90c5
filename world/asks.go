package world

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/world/wire"
)

// newAsk returns what the body asks for.
func (w *world) newAsk(m *wire.Message) *ask {
	kind, d := m.Byte(), m.Duration()
	words := make([]string, 0, 4)
	for n := m.Num(); n > 0 && m.Err() == nil; n-- {
		words = append(words, m.Text())
	}
	word := func(n int) string {
		if n >= len(words) {
			m.Broken(fmt.Errorf("ask %q has %d words", kind, len(words)))
			return ""
		}
		return words[n]
	}
	a := &ask{}
	switch kind {
	case wire.AskStart:
		name := word(0)
		a.do = func() { w.startProcess(name) }
	case wire.AskCrash, wire.AskRestart:
		p := w.byName[word(0)]
		if p == nil {
			m.Broken(fmt.Errorf("there is no process %q", word(0)))
			return a
		}
		if kind == wire.AskCrash {
			a.do = func() { p.kill(); p.want = false }
		} else {
			a.do = func() { p.kill(); p.want = true; p.offerRestart() }
		}
	case wire.AskSettle:
		a.until = w.quiet
	case wire.AskAdvance:
		a.limit, a.until = d, func() bool { return w.kernel.Clock().AtLimit() && w.quiet() }
	case wire.AskCrashAfter:
		var err error
		name, trigger := word(0), word(1)
		a.do = func() { err = w.crashAfter(name, trigger) }
		a.reply = func(p *wire.Packet) { p.Error(err) }
	case wire.AskFaults:
		var ids []int
		var err error
		a.do = func() { ids, err = w.injectAll(words) }
		a.reply = func(p *wire.Packet) {
			p.Error(err).Num(int64(len(ids)))
			for _, id := range ids {
				p.Num(int64(id))
			}
		}
	case wire.AskWithdraw:
		a.do = func() {
			for _, id := range words {
				if n, err := strconv.Atoi(id); err == nil {
					w.withdraw(n)
				}
			}
		}
	case wire.AskStopFaults:
		a.do = w.stopFaults
	case wire.AskChecks:
		a.do = func() { w.addChecks(words) }
	case wire.AskChange:
		w.untilChange(a, d)
	case wire.AskWrite:
		w.newWriter(a, words)
	case wire.AskFail:
		property, message := word(0), word(1)
		a.do = func() { w.fail(property, message) }
	default:
		m.Broken(fmt.Errorf("ask %q is not known", kind))
	}
	return a
}

func (w *world) startProcess(name string) {
	p := &process{w: w, name: name}
	p.id = w.kernel.Register(p)
	w.processes = append(w.processes, p)
	w.byName[name] = p
	p.start()
	w.offerCrashes()
}

// addChecks notes that the test has functions to be called after steps; the names are those of env.Sometimes.
func (w *world) addChecks(names []string) {
	w.remote.checks, w.remote.moved = true, true
	for _, name := range names {
		if _, known := w.sometimes[name]; !known {
			w.sometimes[name] = false
		}
	}
}

// untilChange waits until something has changed, or until a virtual time at which nothing has.
func (w *world) untilChange(a *ask, deadline time.Duration) {
	moves, rev, over := w.remote.moves, w.cluster.Store().Revision(), false
	a.until = func() bool {
		clock := w.kernel.Clock()
		left := deadline - w.kernel.Elapsed()
		switch quiet := w.quiet(); {
		case !quiet:
			clock.Freeze()
		case left <= 0:
			over = true
		default:
			clock.LimitTo(left)
		}
		return over || w.remote.moves != moves || w.cluster.Store().Revision() != rev
	}
	a.reply = func(p *wire.Packet) { p.Flag(over) }
}

// injectAll injects faults, up to the first that cannot be. It returns the ids of those that have not struck yet.
func (w *world) injectAll(faults []string) (ids []int, err error) {
	last := 0
	for _, f := range w.cluster.Faults() {
		last = max(last, f.ID)
	}
	for _, text := range faults {
		f, err := fault.Parse([]byte(text))
		switch {
		case err != nil:
		case fault.OfWebhook(f.Kind) && w.webhooks != nil:
			var id int
			id, err = w.webhooks.inject(f)
			ids = append(ids, id)
		default:
			err = w.inject(f)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, f := range w.cluster.Faults() {
		if f.ID > last {
			ids = append(ids, f.ID)
		}
	}
	return ids, nil
}

// withdraw takes back a fault.
func (w *world) withdraw(id int) {
	if id >= firstWebhookOrder {
		w.webhooks.withdraw(id)
		return
	}
	w.cluster.WithdrawFault(id)
}

// crashAfter has a process crash once an event has happened: by default one of its own client's. It need not be started yet.
func (w *world) crashAfter(name, trigger string) error {
	var t fault.Trigger
	if err := json.Unmarshal([]byte(trigger), &t); err != nil {
		return err
	}
	if t.Client == "" {
		t.Client = name
	}
	w.aimed[t.Client] = true
	return w.cluster.OnTrigger(t, fault.Kind(kindCrash.String()), name, func() {
		if p := w.byName[name]; p != nil {
			p.crashNow()
		}
	})
}

// inject injects a fault. A process that has sent nothing yet is known as a client all the same, and so is one of
// Kubernetes' controllers.
func (w *world) inject(f fault.Fault) error {
	target := strings.TrimPrefix(f.Target, "conn/")
	if w.byName[target] != nil && w.cluster.Client(target) == nil {
		w.cluster.Connect(target, fakeapiserver.ByChoice())
	}
	if w.manager != nil && strings.HasPrefix(target, managerPrefix) {
		w.manager.know(target)
	}
	if err := w.cluster.Inject(f); err != nil {
		return err
	}
	if w.cluster.Client(target) != nil { // not a replica
		w.aimed[target] = true
	}
	if f.After != nil && f.After.Client != "" {
		w.aimed[strings.TrimPrefix(f.After.Client, "conn/")] = true
	}
	return nil
}

// targets says of the clients that faults are aimed at whether they have made a request. A process may call its client by another name
// than its own: then no fault ever strikes what looks like a target. If there is such a one, others are those that have made requests.
func (w *world) targets() (aimed map[string]bool, others []string) {
	aimed = map[string]bool{}
	silent := false
	for name := range w.aimed { // order: into another map
		cl := w.cluster.Client(name)
		aimed[name] = cl != nil && cl.Requests() > 0
		silent = silent || !aimed[name]
	}
	if !silent {
		return aimed, nil
	}
	return aimed, w.asking()
}

// asking returns the clients that have made requests, but for the workload's and those of Kubernetes' controllers.
func (w *world) asking() (names []string) {
	for _, name := range w.cluster.Clients() {
		if cl := w.cluster.Client(name); name != workloadClient && !w.manager.has(cl.Actor()) && cl.Requests() > 0 {
			names = append(names, name)
		}
	}
	return names
}
