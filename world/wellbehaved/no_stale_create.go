package wellbehaved

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kinds "k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// NameStale is the name of the property for which children that look like one too many are deleted once more: whoever wants as many makes others.
const NameStale = "NoStaleCreate"

// noStaleCreate checks that no owner is left with two equal children because their maker had not seen the first when it made the second. Equal
// are children that differ in nothing but a drawn name; an owner may have as many as the largest number in it that may count them. It is judged
// when all is over, for a controller that sees its mistake and deletes the second is right in the end.
func noStaleCreate(o *Options) property.Property {
	return property.Property{
		Name:      NameStale,
		Statement: "no owner is left with two equal children that one controller made from a cache without the first",
		Kinds: slices.Concat(following, []sim.Kind{
			fakeapiserver.KindCommit, fakeapiserver.KindResponse, fakeapiserver.KindFault, o.Restarts,
		}),
		New: func() property.Checker {
			s := &staleness{o: o, known: map[followed]known{}, sent: map[sentBy]known{}, plurals: map[sentBy]string{}, unseen: map[sim.ActorID][]*child{}, made: map[sim.ActorID][]*child{}}
			o.Suspects(s.suspects)
			return property.Checker{Record: s.record, End: s.end}
		},
	}
}

// followed is a resource as a client sees it, sentBy a request.
type (
	followed struct {
		client sim.ActorID
		plural string
	}
	sentBy struct {
		client sim.ActorID
		n      int64
	}
)

// known is how far a client has been told of a resource.
type known struct {
	moment
	rv  int64
	any bool
}

// child is an object with a controlling owner and a drawn name.
type child struct {
	moment
	key      string
	uid      kinds.UID
	rv       int64
	role     role
	by       write
	answer   *reports.Evidence  // that reached its maker; nil while there is none
	seen     *reports.Evidence  // that its maker was told of it
	sent     known              // what its maker knew of the resource when it sent the create
	struck   []reports.Evidence // what kept its maker from being told of the one before
	sibling  *child             // the one that was not seen when this one was made
	deleting bool
}

// role is what a child is to its owner.
type role struct {
	plural, namespace string
	owner             kinds.UID
	content           uint64
}

// removed is a child that the run has deleted, when its maker had made so many others.
type removed struct {
	reports.Evidence
	remade int
}

// staleness follows children, and who has been told of them.
type staleness struct {
	o       *Options
	known   map[followed]known
	sent    map[sentBy]known  // by create in flight
	plurals map[sentBy]string // by list in flight
	unseen  map[sim.ActorID][]*child
	made    map[sim.ActorID][]*child // all that are there, seen or not
	doubles []*child                 // the second of each two
	faults  []struck                 // the last ones
	suspect *suspect                 // nil for none
}

// suspect is what has to be deleted, child for child, before it is known that nobody wanted as many.
type suspect struct {
	*reports.Violation
	of     []*child
	gone   []removed // of these
	remade int       // how many the same client has made since
}

func (s *staleness) record(w property.World, r *sim.Record) *reports.Violation {
	at := sentBy{r.Actor, r.N}
	switch r.Kind {
	case fakeapiserver.KindRequest:
		switch verb, _, _ := strings.Cut(r.Detail, " "); verb {
		case "create":
			s.sent[at] = s.known[followed{r.Actor, r.Key}]
		case "list", "get":
			s.plurals[at] = strings.Clone(r.Key)
		}
	case fakeapiserver.KindPage:
		at = pageOf(r)
		if page, is := r.Obj.(*fakeapiserver.Page); is {
			s.told(r, s.plurals[at], page)
			delete(s.plurals, at)
		}
	case fakeapiserver.KindFrame:
		s.told(r, pluralOf(r.Key), nil)
	case fakeapiserver.KindResponse:
		delete(s.plurals, at)
		delete(s.sent, at)
		for _, c := range s.unseen[r.Actor] {
			if c.by.number == r.N && c.answer == nil {
				e := reports.Because(r, "%s has the answer to that create: %s", c.by.name, r.Detail)
				c.answer = &e
			}
		}
	case fakeapiserver.KindFault:
		s.strike(r)
	case fakeapiserver.KindCommit:
		s.committed(w, r)
	case s.o.Restarts:
		if client, ok := clientOf(w, r); ok {
			s.forgets(client)
		}
	}
	return nil
}

// forgets notes that a client knows nothing any more: its process has ended, or begins.
func (s *staleness) forgets(client sim.ActorID) {
	for f := range s.known { // order: each by itself
		if f.client == client {
			delete(s.known, f)
		}
	}
	for _, c := range s.made[client] {
		c.seen = nil
	}
	s.unseen[client] = slices.Clone(s.made[client])
}

// told notes that a client has been told of objects of a resource: of one, or of a page of them.
func (s *staleness) told(r *sim.Record, plural string, page *fakeapiserver.Page) {
	f := followed{r.Actor, strings.Clone(plural)}
	if k := s.known[f]; r.RV >= k.rv {
		s.known[f] = known{momentOf(r), r.RV, true}
	}
	if len(s.unseen[r.Actor]) == 0 {
		return
	}
	see := func(obj any) {
		m := meta(obj)
		if m == nil {
			return
		}
		s.unseen[r.Actor] = slices.DeleteFunc(s.unseen[r.Actor], func(c *child) bool {
			if c.uid != m.GetUID() {
				return false
			}
			e := reports.Because(r, "%s is told of %s (RV %d)", c.by.name, c.key, r.RV)
			c.seen = &e
			return true
		})
	}
	if page == nil {
		see(r.Obj)
		return
	}
	for _, item := range page.Items {
		see(item)
	}
}

// maxStruck is how many faults are told of a child, and maxFaults how many are kept for that.
const (
	maxStruck = 3
	maxFaults = 64
)

// strike notes a fault of a client's connection, or of a replica, which may be any client's.
func (s *staleness) strike(r *sim.Record) {
	s.faults = append(s.faults[max(0, len(s.faults)+1-maxFaults):], struck{strings.Clone(r.Key), reports.Because(r, "fault %s of %s", r.Detail, r.Key)})
}

// struck is a fault.
type struck struct {
	victim string
	reports.Evidence
}

// between returns the last faults of a client's connection since it was told of a resource, or else of the replicas.
func (s *staleness) between(conn string, since uint64) (all []reports.Evidence) {
	for _, prefix := range []string{conn, "replica/"} {
		for _, f := range s.faults {
			if f.Step > since && (f.victim == prefix || prefix != conn && strings.HasPrefix(f.victim, prefix)) {
				all = append(all, f.Evidence)
			}
		}
		if len(all) > 0 {
			break
		}
	}
	return all[max(0, len(all)-maxStruck):]
}

func (s *staleness) committed(w property.World, r *sim.Record) {
	m := meta(r.Obj)
	if m == nil {
		return
	}
	if s.suspect != nil {
		s.probed(w, r, m)
	}
	if r.Detail != "ADDED" {
		if r.Detail == "DELETED" || m.GetDeletionTimestamp() != nil {
			for _, second := range s.doubles {
				for _, c := range []*child{second, second.sibling} {
					c.deleting = c.deleting || c.uid == m.GetUID()
				}
			}
			for _, lists := range []map[sim.ActorID][]*child{s.unseen, s.made} {
				for client, children := range lists { // order: each list by itself
					lists[client] = slices.DeleteFunc(children, func(c *child) bool { return c.uid == m.GetUID() })
				}
			}
		}
		return
	}
	x := s.o.writeOf(w)
	ref := metav1.GetControllerOf(m)
	if x.role != Controller || ref == nil || Bookkeeping(r.Key) || s.o.excepted(NameStale, x.name, r.Key) {
		return
	}
	c := &child{
		moment: momentOf(r), key: strings.Clone(r.Key), uid: m.GetUID(), rv: r.RV, by: x, sent: s.sent[sentBy{x.client, x.number}],
		role: role{pluralOf(r.Key), m.GetNamespace(), ref.UID, likeness(r.Obj)},
	}
	for _, first := range s.unseen[x.client] {
		if first.role == c.role && !first.deleting && drawn(first.key, c.key, m.GetGenerateName()) {
			c.sibling, c.struck = first, s.between("conn/"+x.name, c.sent.step)
			s.doubles = append(s.doubles, c)
			break
		}
	}
	s.unseen[x.client], s.made[x.client] = append(s.unseen[x.client], c), append(s.made[x.client], c)
}

// suspects returns, by their uids, the children that look like one too many. The run then deletes them, one at a time.
func (s *staleness) suspects(w property.World) []kinds.UID {
	since, ok := s.o.Observed()
	if !ok || len(s.doubles) == 0 {
		return nil
	}
	live := all(w)
	for _, c := range s.doubles {
		first := c.sibling
		owner, is := live[c.role.owner]
		if !is || owner.obj.GetDeletionTimestamp() != nil || c.deleting || first.deleting || !s.o.Runs(c.by.client) ||
			first.seen == nil || c.seen == nil || max(first.seen.At, c.seen.At) > since || asksFor(owner.obj) >= s.siblings(live, c.role) {
			continue
		}
		s.suspect = &suspect{Violation: s.violation(w, c, owner.key), of: []*child{c, first}}
		return []kinds.UID{c.uid, first.uid}
	}
	return nil
}

// probed notes that the run deletes a child that is suspected, and that its maker makes another one.
func (s *staleness) probed(w property.World, r *sim.Record, m metav1.Object) {
	x := s.suspect
	switch by := s.o.writeOf(w); {
	case r.Detail == "DELETED" && by.role == Outside && s.o.Probing():
		for _, c := range x.of {
			if c.uid == m.GetUID() {
				x.gone = append(x.gone, removed{reports.Because(r, "the run deletes %s (RV %d), and %s makes no other one", r.Key, r.RV, c.by.name), x.remade})
			}
		}
	case r.Detail == "ADDED" && len(x.gone) > 0 && by.client == x.of[0].by.client:
		if ref := metav1.GetControllerOf(m); ref != nil && x.of[0].role == (role{pluralOf(r.Key), m.GetNamespace(), ref.UID, likeness(r.Obj)}) {
			x.remade++
		}
	}
}

func (s *staleness) violation(w property.World, c *child, owner string) *reports.Violation {
	first := c.sibling
	v := &reports.Violation{Key: c.key, Message: fmt.Sprintf("%s has made %s and %s for %s, which asks for one: at the second it had %s, without the first, and it has left both for %v",
		c.by.name, first.key, c.key, owner, c.sent.String(c.role.plural), span(w.Kernel().Elapsed()-max(first.seen.At, c.seen.At)))}
	v.Because = append(v.Because, reports.Evidence{Step: first.step, At: first.at, Text: fmt.Sprintf("%s creates %s (RV %d)", c.by.name, first.key, first.rv)})
	if first.answer != nil && first.answer.Step <= c.step {
		v.Because = append(v.Because, *first.answer)
	}
	v.Because = append(v.Because, c.struck...)
	v.Because = append(v.Because, reports.Evidence{Step: c.sent.step, At: c.sent.at, Text: fmt.Sprintf("what %s knows of %s when it creates the second: %s", c.by.name, c.role.plural, c.sent.String(c.role.plural))})
	v.Because = append(v.Because, reports.Evidence{Step: c.step, At: c.at, Text: fmt.Sprintf("%s creates %s (RV %d), equal but for its name", c.by.name, c.key, c.rv)}, *first.seen)
	slices.SortStableFunc(v.Because, func(a, b reports.Evidence) int { return int(int64(a.Step) - int64(b.Step)) })
	return v
}

func (s *staleness) end(property.World) *reports.Violation {
	x := s.suspect
	if x == nil || x.remade >= len(x.of) {
		return nil
	}
	for n, gone := range x.gone {
		by := x.remade // when the next one was deleted
		if n+1 < len(x.gone) {
			by = x.gone[n+1].remade
		}
		if by == gone.remade {
			x.Because = append(x.Because, gone.Evidence)
			break
		}
	}
	return x.Violation
}

// String says how far a client had been told.
func (k known) String(plural string) string {
	if !k.any {
		return "been told of no " + plural
	}
	return fmt.Sprintf("read %s at RV %d", plural, k.rv)
}

// siblings returns how many children have a role.
func (s *staleness) siblings(live map[kinds.UID]stored, r role) int {
	n := 0
	for _, c := range live { // order: a count
		ref := metav1.GetControllerOf(c.obj)
		if ref != nil && ref.UID == r.owner && pluralOf(c.key) == r.plural && c.obj.GetDeletionTimestamp() == nil && likeness(c.obj) == r.content {
			n++
		}
	}
	return n
}

// likeness is a hash of what makes a child what it is: all but its name, its status, and what the server writes into it.
func likeness(obj any) uint64 {
	h := fnv.New64a()
	m := content(obj)
	for _, c := range flat("", m) {
		if name, _, _ := strings.Cut(c.field, "."); name == "status" || name == "apiVersion" || name == "kind" {
			continue
		}
		if rest, is := strings.CutPrefix(c.field, "metadata."); is {
			if part, _, _ := strings.Cut(rest, "."); part != "labels" && part != "annotations" {
				continue
			}
		}
		fmt.Fprintf(h, "%s=%s\n", c.field, c.value)
	}
	return h.Sum64()
}

// flat returns all fields of an object.
func flat(field string, v any) []change {
	var all []change
	differ(field, map[string]any{}, v, &all)
	return all
}

// drawnLength is the least number of characters of a drawn suffix, and drawnAlphabet what Kubernetes draws names from: few words are spelt
// without vowels.
const (
	drawnLength   = 5
	drawnAlphabet = "bcdfghjklmnpqrstvwxz2456789"
)

// drawn reports whether two keys differ in a drawn suffix only: the server drew it, or it looks as if the client had.
func drawn(a, b, generateName string) bool {
	if generateName != "" {
		name := b[strings.LastIndexAny(b, " /")+1:]
		return strings.HasPrefix(name, generateName) && strings.HasPrefix(a[strings.LastIndexAny(a, " /")+1:], generateName)
	}
	i, j := strings.LastIndexByte(a, '-'), strings.LastIndexByte(b, '-')
	return i > 0 && i == j && a[:i] == b[:j] && looksDrawn(a[i+1:]) && looksDrawn(b[j+1:])
}

func looksDrawn(suffix string) bool {
	return len(suffix) >= drawnLength && strings.Trim(suffix, drawnAlphabet) == ""
}

// measures are the last words of the names of fields whose numbers count no children: times, places and shares. An owner with one replica and the port 8080
// does not want 8080.
var measures = []string{
	"bytes", "day", "days", "deadline", "delay", "generation", "gid", "group", "groups", "hour", "hours", "interval", "millis", "milliseconds", "minute", "minutes", "mode", "ms",
	"percent", "percentage", "period", "port", "ports", "priority", "qps", "revision", "second", "seconds", "secs", "skew", "threshold", "timeout", "ttl", "uid", "user", "version", "weight",
}

// lastWord finds the last word of a field's name: of containerPort, HTTP_PORT and http-port.
var lastWord = regexp.MustCompile(`([A-Z]?[a-z]+|[A-Z]+)[^A-Za-z]*$`)

// asksFor returns the largest number in an owner that may count its equal children, at least one. In a ConfigMap's data a number is text; elsewhere text that reads like one
// is a quantity, a version or the like: who limits a Pod to "4" CPUs does not want four of them.
func asksFor(owner any) int {
	most := 1
	for name, v := range content(owner) { // order: a maximum
		if name != "metadata" && name != "status" {
			most = max(most, largest(name, v, name == "data"))
		}
	}
	return most
}

// largest returns the largest number in a field that may count something.
func largest(field string, v any, text bool) int {
	most := 0
	switch v := v.(type) {
	case map[string]any:
		for name, v := range v { // order: a maximum
			most = max(most, largest(name, v, text))
		}
	case []any:
		for _, v := range v {
			most = max(most, largest(field, v, text))
		}
	default:
		if _, is := v.(string); is && !text {
			break
		}
		n, err := strconv.Atoi(fmt.Sprint(v))
		word := lastWord.FindString(field)
		if err == nil && field != "revisionHistoryLimit" && !slices.Contains(measures, strings.ToLower(strings.TrimRight(word, "0123456789_-."))) {
			return n
		}
	}
	return most
}
