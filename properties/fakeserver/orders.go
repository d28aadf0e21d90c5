package fakeserver

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/sim"
)

// order is a fault that was ordered, and what the model knows of it.
type order struct {
	fault.Fault
	id    int
	state string // as in Faults; "" when it is over
	left  int    // hits, or events
	stale bool   // its time is over, which the server may not have noticed
}

// sent is a request, or the frame or commit of one, as orders and triggers look at it.
type sent struct {
	event, client, verb, namespace, name string
	kind                                 string // the verb, or the type of a frame or commit
}

// key is the object's, "" if there is none.
func (s *sent) key() string {
	if s.name == "" || s.namespace == "" {
		return s.name
	}
	return s.namespace + "/" + s.name
}

// ordering orders faults that hit some requests only, and says which they hit.
type ordering struct {
	*trial
	orders []*order
	begun  []*order // in the order in which they hit
}

// ordered orders faults for some requests, at some time or after some event, and compares which requests they hit.
func ordered(s *sim.Stream, turn uint64) string {
	t := &ordering{trial: newTrial(s, turn)}
	t.watches("d", "12", metav1.ListOptions{})
	t.rest()
	for range 14 {
		switch t.IntN(8) {
		case 0, 1:
			t.orderOne()
		case 2:
			t.passes(time.Duration(1+t.IntN(9)) * time.Second)
			t.due()
		case 3:
			t.withdraws()
		default:
			t.sends()
		}
		t.listed()
	}
	t.now(t.cluster.WithdrawFaults)
	t.orders = nil
	t.listed()
	return t.finding("of ordered faults")
}

// one of some strings, or none.
func (t *ordering) perhaps(some ...string) string {
	if t.IntN(3) > 0 {
		return ""
	}
	return some[t.IntN(len(some))]
}

// orderOne orders a fault.
func (t *ordering) orderOne() {
	f := fault.Fault{
		Kind:   []fault.Kind{fault.List500, fault.Write500, fault.WatchOpen500}[t.IntN(3)],
		Target: t.perhaps("c", "conn/d"), Replica: t.perhaps("0", "replica/1"), Verb: t.perhaps("get", "list", "watch", "create", "update", "delete"),
		Resource: t.perhaps("pods"), Namespace: t.perhaps("a", "b"), Name: t.perhaps("x", "y"),
		Count: []int{0, 1, 2, 3, fault.Lasting, -1}[t.IntN(6)], Probability: float64(t.IntN(2)),
	}
	now := t.kernel.Elapsed()
	if t.IntN(4) == 0 {
		f.From = now + time.Duration(t.IntN(9))*time.Second
	}
	if t.IntN(4) == 0 {
		f.Until = max(f.From, now) + time.Duration(1+t.IntN(9))*time.Second
	}
	if t.IntN(2) == 0 {
		f.After = t.trigger()
	}
	o := &order{Fault: f, id: t.lastOrder() + 1, left: 1}
	t.injects(f)
	switch {
	case f.After != nil:
		o.state, o.left = fakeapiserver.FaultTriggered, max(f.After.Count, 1)
	case f.From > now:
		o.state, o.left = fakeapiserver.FaultScheduled, max(f.Count, 1)
	default:
		t.begin(o, now)
	}
	t.orders = append(t.orders, o)
}

func (t *ordering) lastOrder() int {
	if n := len(t.orders); n > 0 {
		return t.orders[n-1].id
	}
	return 0
}

// trigger draws an event.
func (t *ordering) trigger() *fault.Trigger {
	w := &fault.Trigger{
		Event: []string{"", fault.TriggerFrame, fault.TriggerRequest, fault.TriggerCommit}[t.IntN(4)], Count: t.IntN(3),
		Client: t.perhaps("c", "d", "conn/d"), Resource: t.perhaps("pods"), Key: []string{"", "", "a/x", "b/y"}[t.IntN(4)],
	}
	if w.Key == "" {
		w.Type = t.perhaps("list", "get", "update", "added", "DELETED", "MODIFIED")
	}
	return w
}

// begin is when its time or its event has come. It reports whether it may hit what is under way.
func (t *ordering) begin(o *order, now time.Duration) bool {
	t.begun = append(t.begun, o)
	if o.left = o.Count; o.left == 0 {
		o.left = 1
	}
	over := o.Until > 0 && now >= o.Until
	if o.state = fakeapiserver.FaultArmed; o.left < 0 || over {
		o.state = ""
	}
	return !over
}

// hit is when it has hit a request.
func (o *order) hit() {
	if o.left--; o.left == 0 {
		o.state = ""
	}
}

// due begins what was scheduled.
func (t *ordering) due() {
	all := slices.Clone(t.orders)
	slices.SortStableFunc(all, func(a, b *order) int { return int(a.From - b.From) })
	for _, o := range all {
		if o.state == fakeapiserver.FaultScheduled && o.From <= t.kernel.Elapsed() {
			t.begin(o, o.From)
		}
	}
}

// withdraws takes one back.
func (t *ordering) withdraws() {
	id := 1 + t.IntN(t.lastOrder()+1)
	there := slices.IndexFunc(t.orders, func(o *order) bool { return o.id == id })
	known := there >= 0 && t.orders[there].state != ""
	var was bool
	t.now(func() { was = t.cluster.WithdrawFault(id) })
	if there < 0 || !t.orders[there].stale {
		t.is(fmt.Sprintf("WithdrawFault %d", id), known, was)
	}
	if known {
		t.orders[there].state = ""
	}
}

// expires forgets those that are armed and can hit nothing more, which the server forgets later.
func (t *ordering) expires() {
	for _, o := range t.orders {
		if o.state == fakeapiserver.FaultArmed && o.Until > 0 && t.kernel.Elapsed() >= o.Until {
			o.state, o.stale = "", true
		}
	}
}

// listed compares the faults that are yet to happen.
func (t *ordering) listed() {
	t.expires()
	var want, got []string
	for _, o := range t.orders {
		if o.state != "" {
			want = append(want, fmt.Sprint(o.id, o.state, o.left))
		}
	}
	for _, f := range t.cluster.Faults() {
		got = append(got, fmt.Sprint(f.ID, f.State, f.Left))
	}
	t.is("Faults", strings.Join(want, ", "), strings.Join(got, ", "))
}

// sends sends a request, and compares whether a fault hits it.
func (t *ordering) sends() {
	client := []string{"c", "d"}[t.IntN(2)]
	key := []string{"a/x", "a/y", "b/x", "b/y"}[t.IntN(4)]
	live, _ := t.cluster.Store().Get(t.pods, key[:1], key[2:])
	s := &sent{event: fault.TriggerRequest, client: client, namespace: key[:1], name: key[2:]}
	cl, e := t.clients[client], &ear{t.trial, client, ""}
	var send func()
	switch n := t.IntN(6); {
	case n == 0:
		s.verb = "get"
		send = func() { cl.Get(t.pods, s.namespace, s.name, "", "", e) }
	case n == 1:
		s.verb = "list"
		name := fields.OneTermEqualSelector("metadata.name", s.name)
		o := metav1.ListOptions{FieldSelector: name.String()}
		if t.IntN(2) == 0 {
			o.FieldSelector = fields.AndSelectors(name, fields.OneTermNotEqualSelector("metadata.namespace", "c")).String()
		}
		if t.IntN(2) == 0 {
			s.name, o.FieldSelector = "", ""
		}
		if t.IntN(2) == 0 {
			s.namespace = ""
		}
		send = func() { cl.List(t.pods, s.namespace, o, e) }
	case n == 2:
		s.verb, s.name = "watch", ""
		seconds := int64(1)
		send = func() {
			cl.Watch(t.pods, s.namespace, metav1.ListOptions{ResourceVersion: fmt.Sprint(t.cluster.Store().Revision()), TimeoutSeconds: &seconds}, e)
		}
	case live == nil:
		s.verb = "create"
		send = func() {
			cl.Write(fakeapiserver.Write{Resource: t.pods, Verb: fakeapiserver.Create, Object: named(key)}, e)
		}
	case n == 3:
		s.verb = "delete"
		send = func() {
			cl.Write(fakeapiserver.Write{Resource: t.pods, Verb: fakeapiserver.Delete, Namespace: s.namespace, Name: s.name}, e)
		}
	default:
		s.verb = "update"
		send = func() {
			cl.Write(fakeapiserver.Write{Resource: t.pods, Verb: fakeapiserver.Update, Object: named(key)}, e)
		}
	}
	s.kind = s.verb
	t.heard = nil
	t.now(send)
	t.rest()
	hit := t.hits(s, false)
	hit = t.happens(s, hit)
	hit = hit || t.hits(s, true)
	got := strings.Contains(strings.Join(t.heard, ""), "500 InternalError")
	t.is(fmt.Sprintf("a fault hits the %s of %s by %s", s.verb, s.key(), client), hit, got)
	if changes := map[string]watch.EventType{"create": watch.Added, "update": watch.Modified, "delete": watch.Deleted}; changes[s.verb] != "" && !hit {
		t.happens(&sent{event: fault.TriggerCommit, client: client, namespace: key[:1], name: key[2:], kind: string(changes[s.verb])}, true)
		t.happens(&sent{event: fault.TriggerFrame, client: "d", namespace: key[:1], name: key[2:], kind: string(changes[s.verb])}, true)
	}
	if s.verb == "watch" {
		t.passes(2 * time.Second)
		t.due()
	}
}

// hits is whether an armed fault hits the request as it is sent, or, if it is of a replica, as that gets it.
func (t *ordering) hits(s *sent, admitted bool) bool {
	for _, o := range t.begun {
		if o.state == fakeapiserver.FaultArmed && (o.Replica != "") == admitted && !(o.Until > 0 && t.kernel.Elapsed() >= o.Until) && o.selects(s) {
			o.hit()
			return true
		}
	}
	return false
}

// selects is whether the fault is one of the request.
func (o *order) selects(s *sent) bool {
	of := map[fault.Kind]string{fault.List500: "get list", fault.Write500: "create update delete", fault.WatchOpen500: "watch"}[o.Kind]
	replica := map[string]string{"c": "0", "d": "1"}[s.client]
	return strings.Contains(of, s.verb) && (o.Verb == "" || o.Verb == s.verb) && (o.Target == "" || strings.HasSuffix(o.Target, s.client)) &&
		(o.Replica == "" || strings.HasSuffix(o.Replica, replica)) && (o.Namespace == "" || o.Namespace == s.namespace) && (o.Name == "" || o.Name == s.name)
}

// happens counts an event for the faults that wait for it. One that begins may hit the request itself, unless that is hit already, which it returns.
func (t *ordering) happens(s *sent, hit bool) bool {
	now := t.kernel.Elapsed()
	for _, o := range t.orders {
		if o.state != fakeapiserver.FaultTriggered || !o.awaits(s) {
			continue
		}
		if o.left--; o.left > 0 {
			continue
		}
		if o.From > now {
			o.state, o.left = fakeapiserver.FaultScheduled, max(o.Count, 1)
			continue
		}
		if t.begin(o, now) && !hit && o.Replica == "" && o.selects(s) {
			hit = true
			o.hit()
		}
	}
	return hit
}

// awaits is whether the fault waits for the event.
func (o *order) awaits(s *sent) bool {
	w := o.After
	event := w.Event
	if event == "" {
		event = fault.TriggerFrame
	}
	return event == s.event && (w.Client == "" || strings.HasSuffix(w.Client, s.client)) && (w.Key == "" || w.Key == s.key()) && (w.Type == "" || strings.EqualFold(w.Type, s.kind))
}
