package api

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// ListIsAtOneRevision checks that a list shows one moment of the Store.
func ListIsAtOneRevision() property.Property {
	return property.Property{
		Name:      "ListIsAtOneRevision",
		Statement: "a list, its pages included, or a streaming list, is what the Store has of the selection at one revision",
		Kinds: []sim.Kind{
			fakeapiserver.KindRequest, fakeapiserver.KindResponse, fakeapiserver.KindPage, fakeapiserver.KindFault, fakeapiserver.KindRestore,
			fakeapiserver.KindFrame, fakeapiserver.KindWatchClosed,
		},
		New: func() property.Checker {
			p := &listIsAtOneRevision{}
			p.forget()
			return property.Checker{Record: p.record}
		},
	}
}

// listIsAtOneRevision compares every page with the Store's history, as far as that is not compacted.
// Once the Store is restored, watch caches may show a history that it no longer has, and nothing is judged.
type listIsAtOneRevision struct {
	lists    map[listID]*list
	restored bool
}

type listID struct {
	conn sim.ActorID
	id   int64
}

// list is a list in flight, or one page of it.
type list struct {
	asked  *fakeapiserver.Asked
	plural string
	step   uint64
	// streamed is what a streaming list has brought so far, nil for another list.
	streamed *streamed
}

// streamed is what a streaming list has brought so far. A fault may hold its end back, and changes may come before that.
type streamed struct{ page fakeapiserver.Page }

// apply adds an event.
func (s *streamed) apply(event, key string, obj runtime.Object) {
	p := &s.page
	n := len(p.Keys)
	if event != string(watch.Added) || n > 0 && p.Keys[n-1] >= key { // neither needs a search in a list in order
		n = sort.SearchStrings(p.Keys, key)
	}
	switch found := n < len(p.Keys) && p.Keys[n] == key; {
	case event == string(watch.Deleted) && found:
		p.Keys, p.Items = slices.Delete(p.Keys, n, n+1), slices.Delete(p.Items, n, n+1)
	case event == string(watch.Deleted):
	case found:
		p.Items[n] = obj
	default:
		p.Keys, p.Items = slices.Insert(p.Keys, n, key), slices.Insert(p.Items, n, obj)
	}
}

func (p *listIsAtOneRevision) forget() { p.lists = map[listID]*list{} }

func (p *listIsAtOneRevision) record(w property.World, r *sim.Record) *reports.Violation {
	switch r.Kind {
	case fakeapiserver.KindRequest:
		p.request(r)
	case fakeapiserver.KindResponse:
		if l := p.lists[listID{r.Actor, r.N}]; l == nil || l.streamed == nil || refused(r) {
			delete(p.lists, listID{r.Actor, r.N})
		}
	case fakeapiserver.KindWatchClosed:
		delete(p.lists, listID{r.Actor, r.N})
	case fakeapiserver.KindFrame:
		return p.frame(w, r)
	case fakeapiserver.KindRestore:
		p.restored = true
		p.forget()
	case fakeapiserver.KindFault:
		if id, known := w.Kernel().ActorByName(r.Key); known && OfBrokenServer(r) {
			for k := range p.lists { // order: a set is emptied
				if k.conn == id {
					delete(p.lists, k)
				}
			}
		}
	case fakeapiserver.KindPage:
		return p.page(w, r)
	}
	return nil
}

func (p *listIsAtOneRevision) request(r *sim.Record) {
	q := asked(r)
	if q == nil || p.restored || q.Watch && !q.Streaming() {
		return
	}
	l := &list{asked: q, plural: r.Key, step: r.Step}
	if q.Watch {
		l.streamed = &streamed{}
	}
	p.lists[listID{r.Actor, r.N}] = l
}

// frame adds an object to a streaming list, or judges the list when its end comes.
func (p *listIsAtOneRevision) frame(w property.World, r *sim.Record) *reports.Violation {
	id := listID{r.Actor, r.N}
	l := p.lists[id]
	if l == nil || l.streamed == nil {
		return nil
	}
	switch obj, ok := r.Obj.(runtime.Object); {
	case ok && r.Key != "":
		_, key, _ := strings.Cut(r.Key, " ")
		l.streamed.apply(r.Detail, key, obj)
	case r.Detail == string(watch.Bookmark) && endsInitialEvents(r.Obj):
		delete(p.lists, id)
		l.streamed.page.Revision = r.RV
		if key, message := l.differs(w, &l.streamed.page, ""); message != "" {
			return l.violation(w, r, key, "the streaming list that ends at rv=%d %s", r.RV, message)
		}
	}
	return nil
}

func (p *listIsAtOneRevision) page(w property.World, r *sim.Record) *reports.Violation {
	number, _, _ := strings.Cut(strings.TrimPrefix(r.Detail, "request="), " ")
	n, err := strconv.ParseInt(number, 10, 64)
	id := listID{r.Actor, n}
	l, page := p.lists[id], pageOf(r)
	if err != nil || l == nil || page == nil || p.restored {
		return nil
	}
	delete(p.lists, id)
	began, from, _ := strings.Cut(l.asked.Continue, ":")
	if rv, err := strconv.ParseInt(began, 10, 64); err == nil && rv != page.Revision {
		return l.violation(w, r, "", "a page is at rv=%d, and the list began at rv=%d", page.Revision, rv)
	}
	key, message := l.differs(w, page, from)
	if message == "" {
		return nil
	}
	return l.violation(w, r, key, "the list at rv=%d %s", page.Revision, message)
}

func pageOf(r *sim.Record) *fakeapiserver.Page {
	page, _ := r.Obj.(*fakeapiserver.Page)
	return page
}

// differs returns the first key of a page that is not as the Store had it at the page's revision, and what is wrong.
func (l *list) differs(w property.World, page *fakeapiserver.Page, from string) (key, message string) {
	s := w.Cluster().Store()
	t, res := timelineOf(s, l.plural)
	if t == nil || page.Revision < s.Compacted() || page.Revision > s.Revision() {
		return "", ""
	}
	switch {
	case from == "":
	case l.asked.Namespace != "":
		from = l.asked.Namespace + "/" + from + "\x00"
	default:
		from += "\x00"
	}
	sel := selectorOf(l.asked, res)
	if sel == nil {
		return "", ""
	}
	i := 0
	t.Walk(page.Revision, l.asked.Namespace, from, func(v *store.Version) bool {
		k := v.Entry().Key()
		if !sel.has(v.Object()) {
			return true
		}
		if i == len(page.Keys) {
			if page.Continue == "" {
				key, message = k, fmt.Sprintf("lacks %s, which existed then, at rv=%d", k, v.Revision())
			}
			return false
		}
		switch {
		case page.Keys[i] == k && page.Items[i] == v.Object():
			i++
		case page.Keys[i] == k:
			key, message = k, fmt.Sprintf("has %s in a state of another revision: it was at rv=%d", k, v.Revision())
		case page.Keys[i] < k:
			return false
		default:
			key, message = k, fmt.Sprintf("lacks %s, which existed then, at rv=%d", k, v.Revision())
		}
		return message == ""
	})
	if message == "" && i < len(page.Keys) {
		key, message = page.Keys[i], fmt.Sprintf("has %s, which did not exist then, or is not in the selection", page.Keys[i])
	}
	return key, message
}

func (l *list) violation(w property.World, r *sim.Record, key, format string, args ...any) *reports.Violation {
	return &reports.Violation{
		Key:     key,
		Message: fmt.Sprintf("%s, list of %s: ", w.Kernel().ActorName(r.Actor), l.plural) + fmt.Sprintf(format, args...),
		Because: []reports.Evidence{reports.Because(r, "what was requested in step %d reached its client", l.step)},
	}
}
