package requests

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Media types of patches.
const (
	mediaJSON  = "application/json"
	mediaMerge = "application/merge-patch+json"
	mediaPatch = "application/json-patch+json"
	mediaApply = "application/apply-patch+yaml"
)

// one asks for something.
func (r *round) one() {
	k := kinds[min(r.IntN(3), 1)^1]
	name := []string{"a", "b", "c"}[r.IntN(3)]
	path := k.path() + "/" + name
	h := r.live[path]
	n := r.IntN(20)
	switch {
	case h == nil && n < 12, n == 0:
		r.create(k, name)
	case n < 5:
		r.put(k, path)
	case n < 9:
		r.merge(k, path)
	case n < 11:
		r.jsonPatch(k, path)
	case n < 14:
		r.apply(k, path)
	case n < 17:
		r.delete(k, path)
	case n == 17:
		r.deleteCollection(k)
	case n == 18 && k.scale:
		r.scale(k, path)
	case n == 19 && r.IntN(2) == 0:
		r.reads(k, path)
	default:
		r.list(k)
	}
	r.holds(path)
}

func (k kind) path() string {
	if k.namespaced {
		return "/apis/example.dev/v1/namespaces/n/" + k.plural
	}
	return "/apis/example.dev/v1/" + k.plural
}

// holds compares what is stored with the model.
func (r *round) holds(path string) {
	r.is("the revision of the Store", r.revision, r.cluster.Store().Revision())
	a := r.ask("GET", path, "", nil)
	h := r.live[path]
	if h == nil {
		r.is("the code of a read of what is not there", 404, a.code)
		return
	}
	r.is("the code of a read", 200, a.code)
	r.is("the object", h.state.shown(), a.state().shown())
}

// sent is an object as a client may send it: with fields that it does not decide, and perhaps with a field that nobody knows, or a value that is invalid.
func (r *round) sent(k kind, name string) state {
	s := state{"apiVersion": "example.dev/v1", "kind": k.name}
	m := state{"name": name}
	if k.namespaced && r.IntN(2) == 0 {
		m["namespace"] = "n"
	}
	if r.IntN(2) == 0 {
		m["labels"] = state{"app": r.one2("x", "y")}
	}
	if r.IntN(3) == 0 {
		m["annotations"] = state{"note": r.one2("1", "2")}
	}
	if r.IntN(4) == 0 {
		m["finalizers"] = []any{"example.dev/" + r.one2("f", "g")}
	}
	if r.IntN(6) == 0 {
		m["generation"] = 7
	}
	if r.IntN(6) == 0 {
		m["deletionTimestamp"], m["deletionGracePeriodSeconds"] = "2001-01-01T00:00:00Z", 30
	}
	if r.IntN(6) == 0 {
		m["creationTimestamp"] = "2001-01-01T00:00:00Z"
	}
	if r.IntN(8) == 0 { // the same owner twice
		owner := state{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "1"}
		m["ownerReferences"] = []any{owner, owner, state{"apiVersion": "v1", "kind": "Node", "name": "o", "uid": "2"}}[r.IntN(2):]
	}
	s["metadata"] = m
	if r.IntN(8) != 0 {
		spec := state{}
		if r.IntN(2) == 0 {
			spec["color"] = r.one2("red", "blue")
		}
		if r.IntN(2) == 0 {
			spec["size"] = r.IntN(3)
		}
		if r.IntN(3) == 0 {
			spec["replicas"] = r.IntN(3)
		}
		if r.IntN(8) == 0 {
			spec["unknown"] = 1
		}
		if r.IntN(12) == 0 {
			spec["size"] = -1
		}
		s["spec"] = spec
	}
	if r.IntN(3) == 0 {
		s["status"] = state{"phase": r.one2("Ready", "Failed")}
	}
	return s
}

func (r *round) one2(a, b string) string {
	if r.IntN(2) == 0 {
		return a
	}
	return b
}

// dry is a query that some requests have: they change nothing.
func (r *round) dry() (query string, dry bool) {
	if r.IntN(8) == 0 {
		return "&dryRun=All", true
	}
	return "", false
}

func (r *round) create(k kind, name string) {
	s := r.sent(k, name)
	if r.IntN(4) == 0 {
		s.meta()["uid"] = "mine"
	}
	generated := r.IntN(6) == 0
	if generated {
		delete(s.meta(), "name")
		s.meta()["generateName"] = name + "-"
	} else if r.IntN(8) == 0 {
		s.meta()["generateName"] = "other-"
	}
	versioned := r.IntN(12) == 0
	if versioned {
		s.meta()["resourceVersion"] = "11"
	}
	query, dry := r.dry()
	validation, strict := r.validation()
	query += validation
	r.doing = fmt.Sprintf("a create of %s%s", text(s), query)
	a := r.ask("POST", k.path()+"?fieldManager=cli"+query, r.media(), s)
	path := k.path() + "/" + name
	if unknown := s.at("spec")["unknown"] != nil; strict && unknown {
		r.is("the code of a create with a field that nobody knows", 400, a.code)
		return
	} else if a.code < 300 {
		r.warned(a, unknown && validation == "", s)
	}
	switch got := a.state(); {
	case versioned && !dry && !invalid(s.copied()):
		r.is("the code of a create with a version", 500, a.code)
	case !generated && r.live[path] != nil && !invalid(s.copied()):
		r.is("the code of a create of what is there", 409, a.code)
		r.is("its reason", "AlreadyExists", got["reason"])
		says, _ := got["message"].(string)
		r.is("whether it says that it is being deleted", r.live[path].state.deleting(), strings.HasPrefix(says, "object is being deleted: "))
	case invalid(s.copied()):
		r.is("the code of a create that is invalid", 422, a.code)
	default:
		r.is("the code of a create", 201, a.code)
		if generated {
			made := got.text("name")
			if rest, ok := strings.CutPrefix(made, name+"-"); !ok || len(rest) != 5 {
				r.is("a name that is generated", name+"- and five letters", made)
			}
			name = made
			path = k.path() + "/" + name
		}
		want := decoded(s)
		m := want.meta()
		for _, key := range system {
			delete(m, key)
		}
		m["name"], m["generation"], m["creationTimestamp"], m["uid"] = name, 1, r.now(), got.text("uid")
		r.is("whether who has created an object owns fields of it", true, r.managed(got, "cli", "Update", "") || len(leaves(want.copied())) == 0)
		if k.namespaced {
			m["namespace"] = "n"
		}
		if k.status {
			delete(want, "status")
		}
		if uid := got.text("uid"); uid == "" || uid == "mine" || r.uids[uid] {
			r.is("the uid of a new object", "one of its own", uid)
		}
		if dry {
			delete(got.meta(), "resourceVersion")
			r.is("the answer to a dry run", want.shown(), got.shown())
			return
		}
		r.uids[got.text("uid")] = true
		h := &held{kind: k, owners: owners{}}
		h.changedBy("cli/Update/", state{}, want.copied())
		r.commit(path, h, "ADDED", want.copied())
		r.is("the answer", h.state.shown(), got.shown())
		r.holds(path)
	}
}

// validation is a query that says what becomes of unknown fields.
func (r *round) validation() (query string, strict bool) {
	switch r.IntN(6) {
	case 0:
		return "&fieldValidation=Strict", true
	case 1:
		return "&fieldValidation=Ignore", false
	}
	return "", false
}

// media is what a body that is JSON may be called.
func (r *round) media() string {
	if r.IntN(6) == 0 {
		return "application/yaml"
	}
	return mediaJSON
}

// warned compares the warnings of an answer with what there is to warn of.
func (r *round) warned(a *answer, unknown bool, sent state) {
	want := 0
	if unknown {
		want++
	}
	if refs := slicesOf(sent.copied().meta()["ownerReferences"]); len(refs) > 0 && len(refs) > len(slicesOf(decoded(sent).meta()["ownerReferences"])) {
		want++
	}
	r.is("the number of warnings", want, len(a.header.Values("Warning")))
}

// newer reports whether a leaf has another value, or is new: to take one out is nobody's.
func newer(before, after map[string]any) bool {
	for f, v := range after { // order: one is enough
		if before[f] != v {
			return true
		}
	}
	return false
}

// managed looks for the entry of who has just written, and holds its time against the clock.
func (r *round) managed(got state, manager, operation, subresource string) (found bool) {
	for _, e := range slicesOf(got.meta()["managedFields"]) {
		entry := state(e.(map[string]any))
		below, _ := entry["subresource"].(string)
		if entry["manager"] == manager && entry["operation"] == operation && below == subresource {
			r.is("when the fields of a manager were written", r.now(), entry["time"])
			return true
		}
	}
	return false
}

// version is what a client says of the version that it has read.
func (r *round) version(h *held) any {
	switch r.IntN(8) {
	case 0:
		return nil
	case 1:
		return strconv.Itoa(r.revision + 1 - r.IntN(4))
	}
	return h.state.text("resourceVersion")
}

func (r *round) put(k kind, path string) {
	s := r.sent(k, path[strings.LastIndex(path, "/")+1:])
	h := r.live[path]
	s.meta()["resourceVersion"] = "1"
	if h != nil {
		if s.meta()["resourceVersion"] = r.version(h); r.IntN(8) == 0 {
			s.meta()["uid"] = r.one2("other", h.state.text("uid"))
		}
		if h.state.deleting() && len(h.state.finalizers()) > 0 && r.IntN(2) == 0 {
			s.meta()["finalizers"] = h.state.finalizers()
		}
		if r.IntN(6) == 0 { // what is there
			s = h.state.copied()
		}
	}
	code := 0
	switch {
	case r.IntN(12) == 0:
		s.meta()["name"], code = "other", 400
	case r.IntN(12) == 0 && k.namespaced:
		s.meta()["namespace"], code = "other", 400
	}
	r.write(k, path, r.subresource(k), "PUT", r.media(), s, func(state) (state, int) { return s.copied(), code })
}

func (r *round) subresource(k kind) string {
	if k.status && r.IntN(4) == 0 {
		return "status"
	}
	return ""
}

func (r *round) merge(k kind, path string) {
	var p state
	switch r.IntN(8) {
	case 0:
		p = state{"metadata": state{"labels": state{"app": nil, "tier": r.one2("1", "2")}}}
	case 1:
		p = state{"metadata": state{"finalizers": nil}}
	case 2:
		p = state{"metadata": state{"finalizers": []any{"example.dev/f", "example.dev/g"}[r.IntN(2):]}}
	case 3:
		p = state{"spec": state{"size": []any{nil, 1, 2, -1}[r.IntN(4)]}}
	case 4:
		p = state{"spec": state{"color": r.one2("red", "blue")}, "status": state{"phase": "Lost"}}
	case 5:
		p = state{"status": state{"phase": r.one2("Ready", "Failed"), "seen": r.IntN(3)}, "metadata": state{"annotations": state{"note": "status"}}}
	case 6:
		p = state{"metadata": state{"generation": 9, "annotations": state{"note": nil}}}
	default:
		p = state{"spec": []any{nil, state{"unknown": 1, "size": 1}}[r.IntN(2)]}
	}
	code := 0
	if r.IntN(16) == 0 {
		p, code = merged(p, state{"metadata": state{"name": "other"}}), 400
	}
	if h := r.live[path]; h != nil && r.IntN(4) == 0 {
		if v := r.version(h); v != nil {
			p = merged(p, state{"metadata": state{"resourceVersion": v}})
		}
	}
	r.write(k, path, r.subresource(k), "PATCH", mediaMerge, p, func(old state) (state, int) { return merged(old.copied(), p.copied2()).copied(), code })
}

// copied2 is a copy with what is empty or nil.
func (s state) copied2() state {
	var c state
	if err := json.Unmarshal([]byte(text(s)), &c); err != nil {
		panic(err)
	}
	return c
}

func (r *round) jsonPatch(k kind, path string) {
	size, color := r.IntN(3), r.one2("red", "blue")
	tests, removes := r.IntN(2) == 0, r.IntN(2) == 0
	var p []any
	if tests {
		p = append(p, state{"op": "test", "path": "/spec/size", "value": size})
	}
	if removes {
		p = append(p, state{"op": "remove", "path": "/spec/size"})
	}
	p = append(p, state{"op": "add", "path": "/spec/color", "value": color})
	r.write(k, path, "", "PATCH", mediaPatch, p, func(old state) (state, int) {
		next := old.copied()
		spec := next.at("spec")
		had, there := spec["size"].(float64)
		if spec == nil || tests && (!there || had != float64(size)) || removes && !there {
			return nil, 422
		}
		if removes {
			delete(spec, "size")
		}
		spec["color"] = color
		return next, 0
	})
}

// write sends an update or a patch, of which make says what object it means, or how it is refused.
func (r *round) write(k kind, path, subresource, method, mediaType string, sent any, make func(old state) (state, int)) {
	query, dry := r.dry()
	at := path
	if subresource != "" {
		at += "/" + subresource
	}
	r.doing = fmt.Sprintf("%s %s%s %s", method, at, query, text(sent))
	validation, strict := r.validation()
	r.doing += validation
	a := r.ask(method, at+"?fieldManager=cli"+query+validation, mediaType, sent)
	h := r.live[path]
	s, _ := sent.(state)
	unknown := s.at("spec")["unknown"] != nil
	if h == nil {
		if s == nil || method != "PUT" || !strict && s.text("name") != "other" && s.text("namespace") != "other" {
			r.is("the code of a write of what is not there", 404, a.code)
		}
		return
	}
	in, code := make(h.state)
	if strict && unknown {
		if method == "PUT" {
			code = 400
		} else {
			code = 422
		}
	}
	var next state
	gone := false
	if code == 0 {
		next, gone, code = updated(k, subresource, h.state, in)
	}
	r.is("the code of the write", code, a.code)
	if code != 200 || r.wrong != "" {
		return
	}
	if method == "PUT" {
		r.warned(a, unknown && validation == "", s)
	}
	switch got := a.state(); {
	case dry:
		if !gone {
			r.is("the answer to a dry run", next.shown(), got.shown())
		}
	case gone:
		r.commit(path, h, "DELETED", nil)
	case equal(next, h.state):
		r.is("the answer to what changes nothing", h.state.shown(), got.shown())
	default:
		if newer(leaves(h.state), leaves(next)) {
			r.managed(got, "cli", "Update", subresource)
		}
		h.changedBy("cli/Update/"+subresource, h.state, next)
		r.commit(path, h, "MODIFIED", next)
		r.is("the answer", h.state.shown(), got.shown())
	}
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
