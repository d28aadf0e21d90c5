package wellbehaved

import (
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// elementChange is an element that a write has put into a list, or taken out of it.
type elementChange struct {
	moment
	rv      int64
	by      author
	element string // as JSON
	added   bool
}

// listChange is how a write has changed a list.
type listChange struct {
	field          string
	added, removed []string // elements, as JSON
}

// listChanges returns the lists that differ in two states of an object, by their elements, in the order of their paths. A list within a list is part of an element.
func listChanges(old, obj any) []listChange {
	var all []listChange
	differingLists("", content(old), content(obj), &all)
	return all
}

func differingLists(field string, old, obj any, all *[]listChange) {
	a, isMap := old.(map[string]any)
	b, isAlso := obj.(map[string]any)
	if isMap || isAlso {
		names := slices.Collect(maps.Keys(a)) // order: sorted below
		for name := range b {                 // order: sorted below
			if _, both := a[name]; !both {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			if path := strings.TrimPrefix(field+"."+name, "."); path != "metadata.managedFields" {
				differingLists(path, a[name], b[name], all)
			}
		}
		return
	}
	x, isList := old.([]any)
	y, isOne := obj.([]any)
	if !isList && !isOne {
		return
	}
	if c := (listChange{field, without(y, x), without(x, y)}); len(c.added)+len(c.removed) > 0 {
		*all = append(*all, c)
	}
}

// ofOrder explains a write that changes nothing but the order of lists.
const ofOrder = "It writes the same elements in another order, as a range over a map gives them, another one each time: sort them"

// reorders reports whether a write changes nothing but the order of lists, and times.
func reorders(r *sim.Record) bool {
	if r.Detail != "MODIFIED" || deleted(r.Obj) != deleted(r.Old) || len(listChanges(r.Old, r.Obj)) > 0 {
		return false
	}
	some := false
	for _, c := range changes(r.Old, r.Obj) {
		if strings.Contains(c.field, "[") {
			some = true
		} else if !isTime(c.value) {
			return false
		}
	}
	return some
}

// without returns the elements of a list that another one does not have.
func without(list, other []any) (rest []string) {
	times := map[string]int{}
	for _, e := range other {
		times[text(e)]++
	}
	for _, e := range list {
		if t := text(e); times[t] > 0 {
			times[t]--
		} else {
			rest = append(rest, t)
		}
	}
	return rest
}

// replaces reports whether a request is a patch that may replace a list whatever has become of it: a merge patch, by RFC 7386 or a strategic one, which replaces the lists whose
// elements have no keys, or one by RFC 6902 without a test. One with a resourceVersion is refused if it comes late. An apply is no such patch: it says whose elements are whose.
func replaces(x *write, old any) bool {
	live := meta(old)
	if live == nil || x.request == nil || x.request.Method != http.MethodPatch {
		return false
	}
	kind, _, err := mime.ParseMediaType(x.request.ContentType)
	if err != nil {
		return false
	}
	switch kind {
	case "application/merge-patch+json", "application/strategic-merge-patch+json":
		var patch struct {
			Metadata struct{ ResourceVersion string }
		}
		return json.Unmarshal([]byte(x.request.Body), &patch) == nil && patch.Metadata.ResourceVersion == ""
	case "application/json-patch+json":
		var ops []struct{ Op, Path string }
		if json.Unmarshal([]byte(x.request.Body), &ops) != nil {
			return false
		}
		for _, op := range ops {
			if op.Op == "test" || op.Path == "/metadata/resourceVersion" {
				return false
			}
		}
		return true
	}
	return false
}

// shared reports whether a list is everybody's, by the API's conventions: nobody may say what all of its elements are.
func shared(field string) bool {
	return field == "metadata.finalizers" || field == "metadata.ownerReferences"
}

// lostElement judges a patch or an update that comes late, and returns what it has taken back of a list. Who says what all of a list is to be does it on purpose: one that has made the object,
// that has taken out what others had put in, or that changes nothing else.
func (a *authors) lostElement(r *sim.Record, x *write, by author, c *listChange, known int64) *reports.Violation {
	if !shared(c.field) && (a.made.is(by) || by.among(a.rules[c.field])) {
		return nil
	}
	own := len(c.added) + len(c.removed) // what it has changed beside what it takes back
	var lost *elementChange
	for n := range a.lists[c.field] {
		e := &a.lists[c.field][n]
		undone := c.added
		if e.added {
			undone = c.removed
		}
		if e.rv <= known || e.by.is(by) || !slices.Contains(undone, e.element) {
			continue
		}
		own--
		mine := slices.ContainsFunc(a.lists[c.field], func(m elementChange) bool { return m.by.is(by) && m.element == e.element })
		if lost == nil && !mine {
			lost = e
		}
	}
	if lost == nil || own <= 0 && !shared(c.field) {
		return nil
	}
	return lostFromList(r, x, by, c, lost, known)
}

// rule notes whether a write takes out of a list what its author has not put there, and has been told of.
func (a *authors) rule(by author, c *listChange, known int64) {
	for _, gone := range c.removed {
		unseen, own := false, a.made.is(by)
		for _, e := range a.lists[c.field] {
			if e.added && e.element == gone {
				own, unseen = e.by.is(by), e.rv > known
			}
		}
		if !own && !unseen && !by.among(a.rules[c.field]) {
			a.rules[c.field] = append(a.rules[c.field], by)
			return
		}
	}
}

// note notes how a write has changed a list.
func (a *authors) note(r *sim.Record, by author, c *listChange) {
	add := func(elements []string, added bool) {
		for _, e := range elements {
			a.lists[c.field] = append(a.lists[c.field], elementChange{momentOf(r), r.RV, by, e, added})
		}
	}
	add(c.removed, false)
	add(c.added, true)
}

// done says what has been done to a list.
func (e *elementChange) done() string {
	if e.added {
		return "put " + shown(e.element) + " into"
	}
	return "taken " + shown(e.element) + " out of"
}

// told is the evidence of that, for the list of an object, beside what another author has done.
func (e *elementChange) told(field, key string, beside author) reports.Evidence {
	return reports.Evidence{Step: e.step, At: e.at, Text: fmt.Sprintf("%s has %s %s of %s (RV %d)", e.by.beside(beside), e.done(), field, key, e.rv)}
}

func lostFromList(r *sim.Record, x *write, by author, c *listChange, e *elementChange, known int64) *reports.Violation {
	now := "is not there any more"
	if !e.added {
		now = "is there again"
	}
	me := by.beside(e.by)
	what, lacks := "update", "no resourceVersion"
	if x.request.Method == http.MethodPatch {
		what, lacks = "patch", "neither a resourceVersion nor a test"
	}
	return &reports.Violation{Key: strings.Clone(r.Key), Message: fmt.Sprintf("%s takes back what %s has written: it has %s the list %s of %s, and that %s. The %s of %s replaces what it has not seen, "+
		"and has %s, with which the server would have refused it", me, e.by.beside(by), e.done(), c.field, r.Key, now, what, me, lacks), Because: []reports.Evidence{
		e.told(c.field, r.Key, by),
		{Step: x.request.Step, At: x.request.At, Text: fmt.Sprintf("%s, which %s, sends %s %s: %s", me, knew(r.Key, known), x.request.Method, x.request.Path, shown(x.request.Body))},
		reports.Because(r, "it %s (RV %d)", now, r.RV),
	}}
}

// knew says how far a client had been told of a resource.
func knew(key string, known int64) string {
	if known > 0 {
		return fmt.Sprintf("has been told of %s up to RV %d", pluralOf(key), known)
	}
	return "has been told of no " + pluralOf(key)
}
