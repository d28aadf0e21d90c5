package fakeserver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/store"
)

// object is one of the server's objects.
type object = metav1.PartialObjectMetadata

// change is a commit, and what was seen of it then: the server's objects must not change afterwards.
type change struct {
	rv             int64
	key, now, was  string // "" where there is none
	uid            string
	obj, before    runtime.Object
	appIs, appWas  string
	existed, gone  bool
	beforeRevision string
}

// model is the history of a resource.
type model struct {
	changes []change
	uids    map[string]bool
	wrong   string // the first thing that is wrong with a commit
}

// print describes an object.
func print(o runtime.Object) string {
	m, ok := o.(*object)
	if !ok || m == nil {
		return ""
	}
	return m.Namespace + "/" + m.Name + "@" + m.ResourceVersion + " app=" + m.Labels["app"] + " uid=" + string(m.UID)
}

func label(o runtime.Object) string {
	if m, ok := o.(*object); ok && m != nil {
		return m.Labels["app"]
	}
	return ""
}

// commit notes a commit.
func (m *model) commit(c store.Committed) {
	obj, _ := c.Object.(*object)
	x := change{rv: c.Revision, key: c.Key, now: print(c.Object), obj: c.Object, appIs: label(c.Object), gone: c.Deleted, uid: string(obj.UID)}
	last := int64(0)
	if n := len(m.changes); n > 0 {
		last = m.changes[n-1].rv
	}
	was, _ := c.Old.(*object)
	if x.existed = was != nil; x.existed {
		x.was, x.before, x.appWas, x.beforeRevision = print(c.Old), c.Old, label(c.Old), was.ResourceVersion
	}
	switch old := m.at(last)[c.Key]; {
	case x.rv <= last:
		m.wrong = fmt.Sprintf("a commit at rv=%d follows rv=%d", x.rv, last)
	case obj.ResourceVersion != strconv.FormatInt(x.rv, 10):
		m.wrong = fmt.Sprintf("the commit at rv=%d is of an object at %s", x.rv, obj.ResourceVersion)
	case (old != nil) != x.existed:
		m.wrong = fmt.Sprintf("the commit of %s at rv=%d says of the object before: %q", c.Key, x.rv, x.was)
	case old != nil && old.uid != x.uid:
		m.wrong = fmt.Sprintf("the commit of %s at rv=%d changes its uid", c.Key, x.rv)
	case old == nil && m.uids[x.uid]:
		m.wrong = fmt.Sprintf("the uid of %s, created at rv=%d, is another object's", c.Key, x.rv)
	}
	m.uids[x.uid] = true
	m.changes = append(m.changes, x)
}

// forget drops what is newer than a revision.
func (m *model) forget(rev int64) {
	for n, x := range m.changes {
		if x.rv > rev {
			m.changes = m.changes[:n]
			return
		}
	}
}

// changed reports a committed object that is no longer as it was.
func (m *model) changed() string {
	for _, x := range m.changes {
		if got := print(x.obj); got != x.now {
			return fmt.Sprintf("the committed object %s has become %s", x.now, got)
		}
	}
	return ""
}

// at returns the last change of each object that existed at a revision.
func (m *model) at(rev int64) map[string]*change {
	state := map[string]*change{}
	for n := range m.changes {
		x := &m.changes[n]
		if x.rv > rev {
			break
		}
		if state[x.key] = x; x.gone {
			delete(state, x.key)
		}
	}
	return state
}

// selection is what a request selects.
type selection struct{ namespace, app, name, within string } // within is a namespace, too, selected by field

func (s *selection) has(key, app string) bool {
	namespace, name, _ := strings.Cut(key, "/")
	return (s.namespace == "" || s.namespace == namespace) && (s.app == "" || s.app == app) && (s.name == "" || s.name == name) && (s.within == "" || s.within == namespace)
}

// list returns the objects of the selection at a revision, in the order of keys, from one on.
func (m *model) list(s *selection, rev int64, after string) []string {
	var keys []string
	state := m.at(rev)
	for key, x := range state { // order: sorted below
		if s.has(key, x.appIs) && key > after {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for n, key := range keys {
		keys[n] = state[key].now
	}
	return keys
}

// events returns what a watch from a revision shows, one line each.
func (m *model) events(s *selection, rev int64) []string {
	var all []string
	for _, x := range m.changes {
		if x.rv <= rev {
			continue
		}
		was, is := x.existed && s.has(x.key, x.appWas), !x.gone && s.has(x.key, x.appIs)
		switch {
		case was && is:
			all = append(all, "MODIFIED "+x.now)
		case is:
			all = append(all, "ADDED "+x.now)
		case was && x.gone:
			all = append(all, "DELETED "+x.now)
		case was: // as it was inside, at the change's revision
			all = append(all, "DELETED "+strings.Replace(x.was, "@"+x.beforeRevision+" ", fmt.Sprintf("@%d ", x.rv), 1))
		}
	}
	return all
}

// since counts the changes after a revision.
func (m *model) since(rev int64) (n int) {
	for _, x := range m.changes {
		if x.rv > rev {
			n++
		}
	}
	return n
}
