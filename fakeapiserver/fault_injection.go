package fakeapiserver

import (
	"fmt"
	"strings"
	"time"
)

// armedFault is a fault that waits for what it can hit.
type armedFault struct {
	fault Fault
	index int
	left  int
}

// armedTrigger is a fault that waits for something to happen.
type armedTrigger struct {
	fault Fault
	left  int
}

// Inject makes a fault happen: to what is in flight, or, as far as that is less than Count, to what comes next; later, if the
// fault has a time or a trigger. It fails if the fault makes no sense (Fault.Validate), or a client, a replica or a resource
// is unknown.
func (c *Cluster) Inject(f Fault) error {
	if err := f.Validate(); err != nil {
		return err
	}
	if err := c.checkNames(&f); err != nil {
		return fmt.Errorf("fault %s: %w", f.Kind, err)
	}
	if t := f.After; t != nil {
		f.After = nil
		c.triggers = append(c.triggers, &armedTrigger{fault: f, left: max(t.Count, 1)})
		c.triggers[len(c.triggers)-1].fault.After = t
		return nil
	}
	if wait := f.From - c.kernel.Elapsed(); wait > 0 {
		c.kernel.Clock().AfterFunc(wait, func() { c.injectLater(f) })
		return nil
	}
	return c.inject(f)
}

// injectLater injects a fault when its time has come. What can be wrong with it by then is no mistake of whoever ordered it: a
// revision that has been compacted meanwhile.
func (c *Cluster) injectLater(f Fault) {
	f.From, f.After = 0, nil
	_ = c.inject(f)
}

func (c *Cluster) inject(f Fault) error {
	i, _ := faultIndex(f.Kind)
	if f.Until > 0 && c.kernel.Elapsed() >= f.Until {
		return nil
	}
	switch faultTable[i].stage {
	case onStore:
		return c.strike(f)
	case onReplica:
		r, err := c.replicaNamed(f.Target)
		if err != nil {
			return err
		}
		r.strike(f)
		return nil
	}
	left := f.Count
	if left == 0 {
		left = 1
	}
	for _, hit := range c.victims(i, &f) {
		if left == 0 {
			break
		}
		if c.chance(&f) {
			hit.strike(i, f)
			left--
		}
	}
	if left > 0 {
		c.armed = append(c.armed, &armedFault{fault: f, index: i, left: left})
	}
	return nil
}

func (c *Cluster) checkNames(f *Fault) error {
	i, _ := faultIndex(f.Kind)
	if faultTable[i].stage == onReplica {
		_, err := c.replicaNamed(f.Target)
		return err
	}
	if faultTable[i].stage == onStore {
		return nil
	}
	if _, err := c.clientsNamed(f.Target); err != nil {
		return err
	}
	if f.Replica != "" {
		if _, err := c.replicaNamed(f.Replica); err != nil {
			return err
		}
	}
	for _, plural := range []string{f.Resource, f.triggerResource()} {
		if plural != "" && !c.knows(plural) {
			return fmt.Errorf("there is no resource %q", plural)
		}
	}
	return nil
}

func (f *Fault) triggerResource() string {
	if f.After == nil {
		return ""
	}
	return f.After.Resource
}

func (c *Cluster) knows(plural string) bool {
	for _, r := range c.store.resources {
		if r.Plural == plural {
			return true
		}
	}
	return false
}

// clientsNamed are the clients that a target means.
func (c *Cluster) clientsNamed(target string) ([]*Client, error) {
	if target == "" {
		return c.clients, nil
	}
	if cl := c.byName[strings.TrimPrefix(target, "conn/")]; cl != nil {
		return []*Client{cl}, nil
	}
	return nil, fmt.Errorf("there is no client %q to hit", target)
}

func (c *Cluster) replicaNamed(target string) (*Replica, error) {
	if target == "" {
		return c.replicas[0], nil
	}
	for _, r := range c.replicas {
		if r.name == target || strings.TrimPrefix(r.name, "replica/") == target {
			return r, nil
		}
	}
	return nil, fmt.Errorf("there is no replica %q: there are %d, from replica/0", target, len(c.replicas))
}

// chance draws whether the fault hits what it could hit.
func (c *Cluster) chance(f *Fault) bool {
	return f.Probability == 0 || f.Probability == 1 || c.kernel.Stream("fault/"+string(f.Kind)+"/chance").Chance(f.Probability)
}

// victims are the requests and watches that a fault can hit now, in canonical order.
func (c *Cluster) victims(index int, f *Fault) []*call {
	clients, err := c.clientsNamed(f.Target)
	if err != nil {
		return nil
	}
	var hits []*call
	for _, cl := range clients {
		for _, k := range cl.calls {
			if k.possible()&(1<<index) != 0 && k.of(f) {
				hits = append(hits, k)
			}
		}
	}
	return hits
}

// of tells whether the request is one that the fault is about.
func (c *call) of(f *Fault) bool {
	bare := func(s string) string { return strings.TrimPrefix(s, "conn/") }
	switch {
	case f.Target != "" && bare(f.Target) != bare(c.client.name):
		return false
	case f.Replica != "" && (c.replica == nil || f.Replica != c.replica.name && f.Replica != strings.TrimPrefix(c.replica.name, "replica/")):
		return false
	case f.Verb != "" && f.Verb != c.verbName():
		return false
	}
	if f.Resource != "" {
		if r := c.client.cluster.store.Resource(c.res); r == nil || r.Plural != f.Resource {
			return false
		}
	}
	if i, ok := faultIndex(f.Kind); ok && faultTable[i].stage == onFrame {
		return true // the frame's object decides
	}
	namespace, name := c.about()
	return (f.Namespace == "" || f.Namespace == namespace) && (f.Name == "" || f.Name == name)
}

// verbName is the request's verb as faults name it.
func (c *call) verbName() string {
	switch {
	case c.single:
		return "get"
	case c.verb == verbList:
		return "list"
	case c.verb == verbWatch:
		return "watch"
	}
	return string(c.write.Verb)
}

// about is the namespace and the name that the request is about, as far as it says so.
func (c *call) about() (namespace, name string) {
	if c.verb == verbWrite {
		if m, err := objectMeta(c.write.Object); err == nil {
			return m.GetNamespace(), m.GetName()
		}
		return c.write.Namespace, c.write.Name
	}
	if rest, ok := strings.CutPrefix(c.options.FieldSelector, "metadata.name="); ok {
		name, _, _ = strings.Cut(rest, ",")
	}
	return c.namespace, name
}

// arm hits a request, or a watch that has just opened, with a fault that waits for one.
func (c *Cluster) arm(k *call) {
	now := c.kernel.Elapsed()
	for n := 0; n < len(c.armed); n++ {
		a := c.armed[n]
		switch {
		case a.fault.Until > 0 && now >= a.fault.Until:
			c.disarm(n)
			n--
			continue
		case k.state != stateOpen && (a.fault.Replica != "") != (k.replica != nil):
			continue // a fault of a replica meets requests when that has them, others when they are made
		case k.possible()&(1<<a.index) == 0 || !k.of(&a.fault) || !c.chance(&a.fault):
			continue
		}
		if a.left--; a.left == 0 {
			c.disarm(n)
		}
		k.strike(a.index, a.fault)
		return
	}
}

func (c *Cluster) disarm(n int) { c.armed = append(c.armed[:n:n], c.armed[n+1:]...) }

// happened tells the faults with triggers of something.
func (c *Cluster) happened(event string, cl *Client, res ResourceID, key, kind string) {
	var due []Fault
	keep := c.triggers[:0:0]
	for _, t := range c.triggers {
		if t.counts(event, cl, c.store.Resource(res), key, kind) {
			t.left--
		}
		if t.left > 0 {
			keep = append(keep, t)
		} else {
			due = append(due, t.fault)
		}
	}
	c.triggers = keep
	for _, f := range due {
		if wait := f.From - c.kernel.Elapsed(); wait > 0 {
			c.kernel.Clock().AfterFunc(wait, func() { c.injectLater(f) })
		} else {
			c.injectLater(f)
		}
	}
}

func (t *armedTrigger) counts(event string, cl *Client, r *Resource, key, kind string) bool {
	w := t.fault.After
	want := w.Event
	if want == "" {
		want = TriggerFrame
	}
	return want == event &&
		(w.Client == "" || cl != nil && strings.TrimPrefix(w.Client, "conn/") == strings.TrimPrefix(cl.name, "conn/")) &&
		(w.Resource == "" || r != nil && w.Resource == r.Plural) &&
		(w.Key == "" || w.Key == key) &&
		(w.Type == "" || strings.EqualFold(w.Type, kind))
}

// asked tells the faults with triggers of a request.
func (c *call) asked() {
	if len(c.client.cluster.triggers) == 0 {
		return
	}
	namespace, name := c.about()
	key := name
	if namespace != "" && name != "" {
		key = namespace + "/" + name
	}
	c.client.cluster.happened(TriggerRequest, c.client, c.res, key, c.verbName())
}

func (c *Cluster) emitFault(kind FaultKind, target string) {
	r := c.kernel.Record(c.id, KindFault)
	r.Key, r.Detail = target, string(kind)
	c.kernel.Emit(r)
}

// StopFaults ends the faults: none is offered any more, none waits, and what stalls, lags or is held goes on.
func (c *Cluster) StopFaults() {
	c.armed, c.triggers, c.stops = nil, nil, c.stops+1
	c.offerNoFaults()
	c.findLeader()
	for _, r := range c.replicas {
		r.lagging, r.skew = 0, 0
		for r.held > 0 {
			r.Release()
		}
	}
	for _, cl := range c.clients {
		for _, k := range cl.calls {
			if k.state != stateOpen {
				k.forgive()
				continue
			}
			s := k.watch
			if s.mangling != nil {
				s.forgive()
			}
			if len(s.late) > 0 {
				s.sendLate()
			}
			if s.blocked > 0 && (!s.dead || s.closing != nil) {
				s.heal() // a dead connection is not healed, but that it is dead gets through
			}
		}
	}
}

// until runs f after a while, unless the faults are stopped before. 0 is for ever.
func (c *Cluster) until(d time.Duration, f func()) {
	if d <= 0 {
		return
	}
	stops := c.stops
	c.kernel.Clock().AfterFunc(d, func() {
		if c.stops == stops {
			f()
		}
	})
}

// Now is the time as the replica that is serving a request has it; the virtual time if none is.
func (c *Cluster) Now() time.Time {
	now := c.kernel.Clock().Now()
	if c.serving != nil {
		now = now.Add(c.serving.skew)
	}
	return now
}
