package timeline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// client is what the builder knows of a connection.
type client struct {
	name                string
	lane                int
	resource, namespace string
	requests            map[int64]*Request
	watches             map[string]*watches // by resource
}

// watches are the times at which a client's watch of a resource was open: from, to (-1 while it is), as indices of steps.
type watches struct{ from, to []int }

func (b *builder) client(actor string) *client {
	c := b.clients[actor]
	if c == nil {
		c = &client{name: strings.TrimPrefix(actor, "conn/"), lane: b.laneOf(actor), requests: map[int64]*Request{}, watches: map[string]*watches{}}
		b.clients[actor] = c
	}
	return c
}

func (b *builder) clientOrder() []string {
	var names []string
	for name := range b.clients { // order: sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (c *client) of(resource string) *watches {
	w := c.watches[resource]
	if w == nil {
		w = &watches{}
		c.watches[resource] = w
	}
	return w
}

// interested reports whether the client has watched the resource of an object.
func (c *client) interested(key string) bool {
	resource, object, _ := strings.Cut(key, " ")
	w := c.watches[resource]
	return w != nil && len(w.from) > 0 && (c.namespace == "" || strings.HasPrefix(object, c.namespace+"/"))
}

// missed reports whether, of an object written in a step, no watch of the client can bring the news: it had watched the resource, and its
// watch was closed by then, or ended later.
func (c *client) missed(key string, step int) bool {
	resource, _, _ := strings.Cut(key, " ")
	w := c.watches[resource]
	for i, from := range w.from {
		if from <= step && w.to[i] >= 0 && (i+1 == len(w.from) || w.from[i+1] > step) {
			return true
		}
	}
	return false
}

var namespaceOf = regexp.MustCompile(`(?:^| )namespace=(\S+)`)

// network takes in what passes between a client and the server.
func (b *builder) network(r *sim.TraceRecord, at time.Duration) {
	c := b.client(r.Actor)
	switch r.Kind {
	case "request":
		b.request(c, r, at)
	case "response", "page":
		b.answer(c, r, at)
	case "frame":
		b.frame(c, r)
	case "watch-closed":
		b.closed(c, r, at)
	}
}

func itemOf(n int64) string { return fmt.Sprintf("request %d", n) }

func (b *builder) request(c *client, r *sim.TraceRecord, at time.Duration) {
	b.t.Run.Requests++
	q := &Request{Client: c.name, N: r.N, Resource: r.Key, What: reports.Asked(r), Step: uint64(b.index + 1), At: at}
	c.requests[r.N] = q
	b.t.Requests = append(b.t.Requests, q)
	b.mark(c.lane, ShapeEvent)
	b.set(b.part(c.lane, PartRequests), itemOf(r.N), 0, strings.TrimSpace(r.Detail+" of "+r.Key))
	verb, _, _ := strings.Cut(r.Detail, " ")
	if c.resource == "" {
		c.resource = r.Key
	}
	if m := namespaceOf.FindStringSubmatch(r.Detail); m != nil && verb == "list" {
		c.namespace = m[1]
	}
	if verb == "list" || verb == "watch" {
		b.reflects(c, r.N, fmt.Sprintf("%s (request %d)", q.What, r.N))
	}
}

// reflects notes what an informer's reflector does: it sends request n.
func (b *builder) reflects(c *client, n int64, what string) {
	if !b.isInformer(c.name) {
		return
	}
	i := b.informerOf(c.name)
	if i.resource == "" {
		i.resource, i.namespace = c.resource, c.namespace
	}
	i.streaming = 0
	if strings.Contains(what, "sendInitialEvents") {
		i.streaming = n
	}
	b.set(b.part(i.reflector, PartReflector), "does", 0, what)
}

// isInformer reports whether a client is an informer of the scenario: a writer, or a user's process, is not.
func (b *builder) isInformer(name string) bool {
	if b.informers[name] != nil {
		return true
	}
	for _, c := range b.commands {
		if c.Name == "informer" && len(c.Args) > 0 && c.Args[0].Value == name {
			return true
		}
	}
	return false
}

func (q *Request) watch() bool { return q != nil && strings.HasPrefix(q.What, "watch") }

func (b *builder) answer(c *client, r *sim.TraceRecord, at time.Duration) {
	n := r.N
	if r.Kind == "page" {
		n = 0
		fmt.Sscanf(r.Detail, "request=%d", &n)
	}
	q := c.requests[n]
	part := b.part(c.lane, PartRequests)
	if q == nil {
		b.mark(c.lane, ShapeEvent)
		return
	}
	q.AnswerStep, q.AnswerAt = uint64(b.index+1), at
	if r.Kind == "page" {
		q.Answer = fmt.Sprintf("200 OK, %s at rv=%d", reports.Counted(int(r.N), "object"), r.RV)
		if _, why, failed := strings.Cut(r.Detail, " 404 "); failed {
			q.Answer, q.Failed = "404 "+why, true
		} else if b.informers[c.name] == nil {
			b.listed(c, q, r.RV)
		}
	} else {
		q.Answer, q.Failed = r.Detail, !strings.HasPrefix(r.Detail, "2") && r.Detail != "ok"
	}
	switch {
	case q.Failed:
		shape := ShapeLost
		if strings.HasPrefix(q.Answer, "4") && !q.watch() && !strings.HasPrefix(q.What, "list") {
			shape = ShapeEvent // a conflict, for example: it got what it deserved
		}
		b.mark(c.lane, shape)
		b.drop(part, itemOf(n))
	case q.watch():
		b.mark(c.lane, ShapeEvent)
		w := c.of(q.Resource)
		w.from, w.to = append(w.from, b.index), append(w.to, -1)
		b.set(part, itemOf(n), 0, "open: "+q.What)
		b.endBand("deaf " + c.name + " " + q.Resource)
	case r.Kind == "page":
		b.mark(c.lane, ShapeSync)
		b.drop(part, itemOf(n))
	default:
		b.mark(c.lane, ShapeEvent)
		b.drop(part, itemOf(n))
	}
}

// listed notes what a user's client has got with a list: all that the store had at its revision.
func (b *builder) listed(c *client, q *Request, rv int64) {
	if !strings.HasPrefix(q.What, "list") {
		return
	}
	part := b.part(c.lane, PartDelivered)
	for _, o := range b.t.Objects {
		resource, _, _ := strings.Cut(o.Key, " ")
		v := o.at(rv)
		if resource != q.Resource || v == nil {
			continue
		}
		if v.Stage(c.lane, PartDelivered) == nil {
			b.reach(o.Key, v.RV, Stage{Lane: c.lane, Kind: PartDelivered, How: "list"})
		}
		if v.Deleted() {
			b.drop(part, o.Key)
		} else {
			b.set(part, o.Key, v.RV, "list")
		}
	}
}

func (b *builder) frame(c *client, r *sim.TraceRecord) {
	b.t.Run.Frames++
	q := c.requests[r.N]
	if q != nil {
		q.Frames++
	}
	b.endBand("stall " + c.name)
	if r.Key == "" { // a bookmark or an error
		if r.Detail == "ERROR" {
			b.mark(c.lane, ShapeLost)
			if q != nil {
				q.failure = reports.WithNote("an ERROR event", r)
			}
		}
		b.mark(c.lane, ShapeEvent)
		return
	}
	b.mark(c.lane, ShapeEvent)
	b.about(r.Key)
	part := b.part(c.lane, PartDelivered)
	if r.Detail == "DELETED" {
		b.drop(part, r.Key)
	} else {
		b.set(part, r.Key, r.RV, r.Detail)
	}
	if from := b.reach(r.Key, r.RV, Stage{Lane: c.lane, Kind: PartDelivered, Left: b.leaves(r)}); from >= 0 {
		step, lane := b.from(r.Key, r.RV, from)
		b.arrow(step, lane, c.lane)
	}
	if b.isInformer(c.name) {
		if i := b.informerOf(c.name); i.streaming != r.N {
			b.queued(i, r.Key, delta{r.Detail, r.RV, b.index})
		}
	}
}

// leaves reports whether a watch event says DELETED of a version that is no deletion.
func (b *builder) leaves(r *sim.TraceRecord) bool {
	o := b.objects[r.Key]
	if r.Detail != "DELETED" || o == nil {
		return false
	}
	v := o.version(r.RV)
	return v != nil && !v.Deleted()
}

// from returns where a delivery comes from: the replica that applied it, if there is but one; else the Store.
func (b *builder) from(key string, rv int64, commit int) (step, lane int) {
	replicas := 0
	for _, l := range b.t.Lanes {
		if l.Role == RoleReplica {
			replicas++
		}
	}
	if v := b.objects[key].version(rv); v != nil && replicas == 1 {
		for _, s := range v.Stages {
			if s.Kind == PartApplied {
				return s.index, s.Lane
			}
		}
	}
	return commit, b.laneOf("cluster")
}

// renewed reports whether a watch ended because its time was over: the client opens another one.
func renewed(why string) bool { return why == "timeout" }

func (b *builder) closed(c *client, r *sim.TraceRecord, at time.Duration) {
	b.endBand("stall " + c.name)
	shape := ShapeLost
	if renewed(r.Detail) || strings.HasPrefix(r.Detail, "canceled by the client") {
		shape = ShapeEvent
	}
	b.mark(c.lane, shape)
	b.drop(b.part(c.lane, PartRequests), itemOf(r.N))
	q := c.requests[r.N]
	if q == nil {
		return
	}
	q.Ended, q.EndedStep, q.EndedAt = r.Detail, uint64(b.index+1), at
	if q.failure != "" && strings.HasPrefix(r.Detail, "canceled by the client") {
		q.Ended = "it brings " + q.failure // why the client cancels it
	}
	if w := c.of(q.Resource); len(w.to) > 0 && w.to[len(w.to)-1] < 0 {
		w.to[len(w.to)-1] = b.index
	}
	b.beginBand("deaf "+c.name+" "+q.Resource, c.lane, "no watch of "+q.Resource+" is open", false)
}
