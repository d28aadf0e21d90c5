package timeline

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// laneOf returns the lane of an actor.
func (b *builder) laneOf(actor string) int {
	if n, ok := b.lanes[actor]; ok {
		return n
	}
	l := Lane{Name: actor, Role: RoleOther}
	switch kind, name, _ := strings.Cut(actor, "/"); {
	case actor == "script" || actor == "body":
		l.Role = RoleBody
	case actor == "cluster" || actor == "store":
		l.Role = RoleStore
	case kind == "replica":
		l.Role = RoleReplica
	case kind == "conn":
		l.Role, l.Owner = RoleConn, name
	case kind == "process":
		l.Role, l.Owner = RoleProcess, name
	}
	return b.addLane(actor, l)
}

func (b *builder) addLane(id string, l Lane) int {
	n := len(b.t.Lanes)
	b.t.Lanes = append(b.t.Lanes, l)
	b.lanes[id] = n
	return n
}

// part returns a part of a lane.
func (b *builder) part(lane int, kind PartKind) int {
	p := Part{lane, kind}
	n, ok := b.parts[p]
	if !ok {
		n = len(b.t.Parts)
		b.t.Parts = append(b.t.Parts, p)
		b.parts[p] = n
	}
	return n
}

// informer is what the builder knows of an informer.
type informer struct {
	name                      string
	reflector, queue, indexer int // lanes
	resource, namespace       string
	pending                   map[string][]delta // by key, what is in its queue
	order                     []string           // keys in the queue, the oldest first
	has                       map[string]held    // its Indexer
	handlers                  []*handler
	streaming                 int64 // the watch that begins with a list, which is not in the queue before its end; 0 for none
	moved                     bool  // the current step changed the Indexer
}

// delta is what was delivered and has not reached the Indexer; step is the index of the step that brought it.
type delta struct {
	what string // ADDED, MODIFIED, DELETED, Replaced
	rv   int64
	step int
}

// held is what an Indexer has of an object, since which step.
type held struct {
	rv   int64
	step int
}

// handler is what the builder knows of a handler.
type handler struct {
	name string
	lane int
	ring map[string][]delta
	told map[string]bool // the keys of what it was told
}

// informerOf returns the informer of that name, and makes its lanes.
func (b *builder) informerOf(name string) *informer {
	if i, ok := b.informers[name]; ok {
		return i
	}
	i := &informer{name: name, pending: map[string][]delta{}, has: map[string]held{}}
	if n, ok := b.lanes[name]; ok {
		b.t.Lanes[n].Role, b.t.Lanes[n].Owner = RoleReflector, name
		i.reflector = n
	} else {
		i.reflector = b.addLane(name, Lane{name, RoleReflector, name})
	}
	i.queue = b.addLane(name+"\x00queue", Lane{name + " queue", RoleQueue, name})
	i.indexer = b.addLane(name+"\x00indexer", Lane{name + " Indexer", RoleIndexer, name})
	if c := b.clients["conn/"+name]; c != nil {
		i.resource, i.namespace = c.resource, c.namespace
	}
	b.informers[name] = i
	return i
}

// handlerOf returns the handler "i1/h1".
func (b *builder) handlerOf(actor string) (*informer, *handler) {
	owner, _, _ := strings.Cut(actor, "/")
	i := b.informerOf(owner)
	for _, h := range i.handlers {
		if h.name == actor {
			return i, h
		}
	}
	lane := b.laneOf(actor)
	b.t.Lanes[lane].Role, b.t.Lanes[lane].Owner = RoleHandler, owner
	h := &handler{name: actor, lane: lane, ring: map[string][]delta{}}
	i.handlers = append(i.handlers, h)
	return i, h
}

// keyOf returns a key as parts have it: an informer's own lacks the resource.
func (i *informer) keyOf(key string) string {
	if i.resource == "" || strings.Contains(key, " ") {
		return key
	}
	return i.resource + " " + key
}

var roleOrder = []Role{RoleBody, RoleStore, RoleReplica, RoleConn, RoleProcess, RoleReflector, RoleQueue, RoleIndexer, RoleHandler, RoleWorkQueue, RoleWorker, RoleOther}

// sortLanes orders lanes as data flows: the script, the store, replicas, then client by client.
func (b *builder) sortLanes() {
	t := b.t
	order := make([]int, len(t.Lanes))
	owners := map[string]int{} // in the order of their first sight
	for n := range order {
		order[n] = n
		if l := &t.Lanes[n]; l.Owner != "" {
			if b.informers[l.Owner] != nil && owners[l.Owner] == 0 {
				owners[l.Owner] = len(owners) + 1
			}
		}
	}
	for _, l := range t.Lanes {
		if l.Owner != "" && owners[l.Owner] == 0 { // clients without an informer of ours come after those
			owners[l.Owner] = len(owners) + 1
		}
	}
	slices.SortStableFunc(order, func(x, y int) int {
		l, m := &t.Lanes[x], &t.Lanes[y]
		if l.Owner == "" && m.Owner == "" || owners[l.Owner] == owners[m.Owner] {
			return cmp.Or(cmp.Compare(slices.Index(roleOrder, l.Role), slices.Index(roleOrder, m.Role)), byName(l, m))
		}
		return cmp.Compare(owners[l.Owner], owners[m.Owner])
	})
	moved := make([]int, len(order))
	lanes := make([]Lane, len(order))
	for to, from := range order {
		moved[from], lanes[to] = to, t.Lanes[from]
	}
	t.Lanes = lanes
	for i := range t.Parts {
		t.Parts[i].Lane = moved[t.Parts[i].Lane]
	}
	for i := range t.Bands {
		t.Bands[i].Lane = moved[t.Bands[i].Lane]
	}
	for i := range t.Steps {
		s := &t.Steps[i]
		if s.Lane >= 0 {
			s.Lane = moved[s.Lane]
		}
		for n := range s.Marks {
			s.Marks[n].Lane = moved[s.Marks[n].Lane]
		}
		for n := range s.Arrows {
			s.Arrows[n].FromLane, s.Arrows[n].ToLane = moved[s.Arrows[n].FromLane], moved[s.Arrows[n].ToLane]
		}
	}
	for _, o := range t.Objects {
		o.move(moved)
	}
}

func byName(l, m *Lane) int {
	if l.Role == RoleReplica || l.Role == RoleWorker {
		return cmp.Or(cmp.Compare(len(l.Name), len(m.Name)), strings.Compare(l.Name, m.Name))
	}
	return 0 // as they came
}

// mixName returns the name of a header's fault mix, "" for none.
func mixName(mix json.RawMessage) string {
	var named struct{ Name string }
	if len(mix) == 0 || json.Unmarshal(mix, &named) != nil {
		return ""
	}
	return named.Name
}
