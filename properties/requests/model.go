package requests

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// state is an object as its JSON says it.
type state map[string]any

func (s state) at(key string) state {
	switch v := s[key].(type) {
	case state:
		return v
	case map[string]any:
		return v
	}
	return nil
}

func (s state) meta() state          { return s.at("metadata") }
func (s state) text(k string) string { t, _ := s.meta()[k].(string); return t }

// number is a number, which is left out where it is 0.
func (s state) number(key string) float64 { n, _ := s[key].(float64); return n }

// copied is a deep copy, in the types that JSON has, without what is empty.
func (s state) copied() state {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	var c state
	if err := json.Unmarshal(text, &c); err != nil {
		panic(err)
	}
	if m := c.meta(); m != nil {
		for _, key := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
			if v := reflect.ValueOf(m[key]); m[key] == nil || v.Len() == 0 {
				delete(m, key)
			}
		}
	}
	return c
}

// shown is an object as it is compared: who owns its fields is asked of what an apply does.
func (s state) shown() state {
	c := s.copied()
	if m := c.meta(); m != nil {
		delete(m, "managedFields")
	}
	return c
}

func (s state) finalizers() (all []string) {
	for _, f := range slicesOf(s.meta()["finalizers"]) {
		all = append(all, f.(string))
	}
	return all
}

func slicesOf(v any) []any { l, _ := v.([]any); return l }

func (s state) deleting() bool { return s.text("deletionTimestamp") != "" }

// kind is a custom resource.
type kind struct {
	plural, name string
	namespaced   bool
	// status and scale are subresources.
	status, scale bool
}

var kinds = []kind{{"gadgets", "Gadget", true, true, true}, {"tools", "Tool", false, false, false}}

// held is an object that is there, and the owners of some of its fields.
type held struct {
	kind  kind
	state state
	owners
}

// owners are those of each field that an apply may have.
type owners map[string]map[string]bool

// A change is an event of a watch.
type change struct {
	kind  kind
	event string
	state state
}

// model knows what is there, and what has happened.
type model struct {
	revision int
	live     map[string]*held // by path
	uids     map[string]bool
	changes  []change
	past     []map[string]state // by revision, from first-1 on
}

func newModel() model {
	return model{revision: first - 1, live: map[string]*held{}, uids: map[string]bool{}, past: []map[string]state{{}}}
}

// commit notes a write. A state of nil means that the object is gone.
func (m *model) commit(path string, h *held, event string, next state) {
	m.revision++
	version := strconv.Itoa(m.revision)
	told := next
	if next == nil {
		told = h.state.copied() // as it was last
		delete(m.live, path)
	} else {
		m.live[path] = h
		h.state = next
	}
	told.meta()["resourceVersion"] = version
	m.changes = append(m.changes, change{h.kind, event, told.shown()})
	all := map[string]state{}
	for p, h := range m.live { // order: a copy
		all[p] = h.state
	}
	m.past = append(m.past, all)
}

// sorted are the objects of a kind at a revision, in the order of a list.
func (m *model) sorted(k kind, revision int) (all []state) {
	past := m.past[revision-(first-1)]
	for _, path := range slices.Sorted(maps.Keys(past)) {
		if s := past[path]; s["kind"] == k.name {
			all = append(all, s.shown())
		}
	}
	return all
}

// decoded is what a server makes of an object that it is sent: it leaves out what the schema does not know, and sets defaults.
func decoded(s state) state {
	c := s.copied()
	keep := func(in state, known ...string) {
		maps.DeleteFunc(in, func(key string, _ any) bool { return !slices.Contains(known, key) })
	}
	keep(c, "apiVersion", "kind", "metadata", "spec", "status")
	if refs := slicesOf(c.meta()["ownerReferences"]); len(refs) > 0 {
		c.meta()["ownerReferences"] = slices.CompactFunc(refs, func(a, b any) bool { return reflect.DeepEqual(a, b) })
	}
	if spec := c.at("spec"); spec != nil {
		keep(spec, "color", "size", "replicas")
		if spec["color"] == nil {
			spec["color"] = "grey"
		}
	}
	if status := c.at("status"); status != nil {
		keep(status, "phase", "seen")
	}
	return c
}

// system are the fields of metadata that a client does not decide.
var system = []string{"uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion", "namespace", "name"}

func invalid(s state) bool {
	size, ok := s.at("spec")["size"].(float64)
	return ok && size < 0
}

func equal(a, b state) bool { return reflect.DeepEqual(a.shown(), b.shown()) }

// body is an object without its metadata, and without its status where that is a subresource.
func body(k kind, s state) state {
	c := s.copied()
	delete(c, "metadata")
	if k.status {
		delete(c, "status")
	}
	return c
}

// updated is what an update makes of an object, or the code with which it is refused. gone means that its last finalizer went.
func updated(k kind, subresource string, old, in state) (next state, gone bool, code int) {
	if uid := in.text("uid"); uid != "" && uid != old.text("uid") {
		return nil, false, 409
	}
	if version := in.text("resourceVersion"); version == "" {
		return nil, false, 422
	} else if version != old.text("resourceVersion") {
		return nil, false, 409
	}
	if subresource == "status" {
		next = old.copied()
		if delete(next, "status"); in["status"] != nil {
			next["status"] = in["status"]
		}
		return decoded(next), false, 200
	}
	next = decoded(in)
	m := next.meta()
	for _, key := range system {
		if delete(m, key); old.meta()[key] != nil {
			m[key] = old.meta()[key]
		}
	}
	if k.status {
		if delete(next, "status"); old["status"] != nil {
			next["status"] = old["status"]
		}
	}
	if !reflect.DeepEqual(body(k, next), body(k, old)) {
		m["generation"] = old.meta()["generation"].(float64) + 1
	}
	grace := in.meta()["deletionGracePeriodSeconds"]
	switch had := old.finalizers(); {
	case invalid(next):
		return nil, false, 422
	case !old.deleting() && in.deleting(), grace != nil && grace != old.meta()["deletionGracePeriodSeconds"]:
		return nil, false, 422 // they cannot be changed
	case old.deleting() && slices.ContainsFunc(next.finalizers(), func(f string) bool { return !slices.Contains(had, f) }):
		return nil, false, 422
	}
	return next.copied(), old.deleting() && len(next.finalizers()) == 0, 200
}

// merged is a JSON merge patch, applied.
func merged(into state, patch state) state {
	if into == nil {
		into = state{}
	}
	for key, v := range patch { // order: each has a field of its own
		switch p := v.(type) {
		case nil:
			delete(into, key)
		case state:
			into[key] = merged(into.at(key), p)
		case map[string]any:
			into[key] = merged(into.at(key), p)
		default:
			into[key] = v
		}
	}
	return into
}

// leaves are the fields that an apply may have, with their values.
func leaves(s state) map[string]any {
	all := map[string]any{}
	for _, key := range []string{"color", "size", "replicas"} {
		if v := s.at("spec")[key]; v != nil {
			all["spec."+key] = v
		}
	}
	for key, v := range s.meta().at("labels") { // order: a copy
		all["labels."+key] = v
	}
	return all
}

// changedBy notes that a client has changed an object: it owns what is new, and nobody what has gone.
func (o owners) changedBy(who string, old, next state) {
	before, after := leaves(old), leaves(next)
	for f := range before { // order: each by itself
		if after[f] == nil {
			delete(o, f)
		}
	}
	for f, v := range after { // order: each by itself
		if before[f] != v {
			o[f] = map[string]bool{who: true}
		}
	}
}

// applied is what an apply makes of an object. It reports whether it conflicts, and whether it changes who owns what.
func (o owners) applied(who string, force bool, old, config state) (next state, conflict, changed bool) {
	next = old.copied()
	before, wanted := leaves(old), leaves(config.copied())
	for f, v := range wanted { // order: each by itself
		if before[f] != nil && before[f] != v && !force {
			for other := range o[f] { // order: one is enough
				conflict = conflict || other != who
			}
		}
	}
	if conflict {
		return nil, true, false
	}
	for f, v := range wanted { // order: each by itself
		switch {
		case o[f] == nil || before[f] != v:
			changed = changed || len(o[f]) != 1 || !o[f][who]
			o[f] = map[string]bool{who: true}
		case !o[f][who]:
			changed, o[f][who] = true, true
		}
		set(next, f, v)
	}
	for f := range before { // order: each by itself
		if wanted[f] == nil && o[f][who] {
			changed = true
			if delete(o[f], who); len(o[f]) == 0 {
				delete(o, f)
				set(next, f, nil)
			}
		}
	}
	return decoded(next), false, changed
}

// set sets a leaf, or takes it out.
func set(s state, leaf string, v any) {
	in, key := s, leaf[len("spec."):]
	if leaf[:5] == "spec." {
		in = child(s, "spec")
	} else {
		in, key = child(s.meta(), "labels"), leaf[len("labels."):]
	}
	if v == nil {
		delete(in, key)
	} else {
		in[key] = v
	}
}

func child(s state, key string) state {
	if s.at(key) == nil {
		s[key] = map[string]any{}
	}
	return s.at(key)
}

func (o owners) copied() owners {
	c := owners{}
	for f, all := range o { // order: a copy
		c[f] = maps.Clone(all)
	}
	return c
}

// ownersOf are the owners of the leaves of an object, as its managedFields say.
func ownersOf(s state) owners {
	o := owners{}
	for _, e := range slicesOf(s.meta()["managedFields"]) {
		entry := state(e.(map[string]any))
		below, _ := entry["subresource"].(string)
		who := fmt.Sprintf("%v/%v/%s", entry["manager"], entry["operation"], below)
		add := func(prefix string, fields state) {
			for f := range fields { // order: a set
				if key, ok := strings.CutPrefix(f, "f:"); ok {
					if o[prefix+key] == nil {
						o[prefix+key] = map[string]bool{}
					}
					o[prefix+key][who] = true
				}
			}
		}
		fields := entry.at("fieldsV1")
		add("spec.", fields.at("f:spec"))
		add("labels.", fields.at("f:metadata").at("f:labels"))
	}
	return o
}
