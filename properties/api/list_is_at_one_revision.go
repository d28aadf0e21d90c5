package api

import (
	"fmt"
	"strconv"
	"strings"

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
		Statement: "a list, its pages included, is the state of the Store at one revision",
		Kinds: []sim.Kind{
			fakeapiserver.KindRequest, fakeapiserver.KindResponse, fakeapiserver.KindPage, fakeapiserver.KindFault, fakeapiserver.KindRestore,
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
	request
	plural string
	step   uint64
}

func (p *listIsAtOneRevision) forget() { p.lists = map[listID]*list{} }

func (p *listIsAtOneRevision) record(w property.World, r *sim.Record) *reports.Violation {
	switch r.Kind {
	case fakeapiserver.KindRequest:
		if strings.HasPrefix(r.Detail, "list") {
			p.lists[listID{r.Actor, r.N}] = &list{parseRequest(r.Detail), r.Key, r.Step}
		}
	case fakeapiserver.KindResponse:
		delete(p.lists, listID{r.Actor, r.N})
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

func (p *listIsAtOneRevision) page(w property.World, r *sim.Record) *reports.Violation {
	number, _, _ := strings.Cut(strings.TrimPrefix(r.Detail, "request="), " ")
	n, err := strconv.ParseInt(number, 10, 64)
	id := listID{r.Actor, n}
	l, page := p.lists[id], pageOf(r)
	if err != nil || l == nil || page == nil || p.restored {
		return nil
	}
	delete(p.lists, id)
	began, from, _ := strings.Cut(l.continues, ":")
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

// differs returns the first key of a page that is not as the Store had it at the page's revision, and what is wrong. A list with a
// selector may leave out objects.
func (l *list) differs(w property.World, page *fakeapiserver.Page, from string) (key, message string) {
	s := w.Cluster().Store()
	t := l.timeline(s)
	if t == nil || page.Revision < s.Compacted() || page.Revision > s.Revision() {
		return "", ""
	}
	switch {
	case from == "":
	case l.namespace != "":
		from = l.namespace + "/" + from + "\x00"
	default:
		from += "\x00"
	}
	i := 0
	t.Walk(page.Revision, l.namespace, from, func(v *store.Version) bool {
		k := v.Entry().Key()
		if i == len(page.Keys) {
			if page.Continue == "" && !l.selects() {
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
		case !l.selects():
			key, message = k, fmt.Sprintf("lacks %s, which existed then, at rv=%d", k, v.Revision())
		}
		return message == ""
	})
	if message == "" && i < len(page.Keys) {
		key, message = page.Keys[i], fmt.Sprintf("has %s, which did not exist then", page.Keys[i])
	}
	return key, message
}

// timeline returns the history of the listed resource, nil if its plural is that of several.
func (l *list) timeline(s *store.Store) (found *store.Timeline) {
	for id, res := range s.Resources() {
		if res.Plural != l.plural {
			continue
		}
		if found != nil {
			return nil
		}
		found = s.Timeline(store.ResourceID(id))
	}
	return found
}

func (l *list) violation(w property.World, r *sim.Record, key, format string, args ...any) *reports.Violation {
	return &reports.Violation{
		Key:     key,
		Message: fmt.Sprintf("%s, list of %s: ", w.Kernel().ActorName(r.Actor), l.plural) + fmt.Sprintf(format, args...),
		Because: []reports.Evidence{reports.Because(r, "the page that was requested in step %d reached its client", l.step)},
	}
}
