package requests

import (
	"fmt"
	"strings"
)

func (r *round) scale(k kind, path string) {
	h := r.live[path]
	if h != nil && h.state.at("spec")["replicas"] == nil {
		r.list(k) // what a scale without replicas is, is not judged
		return
	}
	n := r.IntN(3)
	if h != nil { // to the number that it has, it would only change who owns it
		n = (int(h.state.at("spec").number("replicas")) + 1 + r.IntN(2)) % 3
	}
	p := state{"spec": state{"replicas": n}}
	r.doing = fmt.Sprintf("a scale of %s to %d", path, n)
	a := r.ask("PATCH", path+"/scale?fieldManager=cli", mediaMerge, p)
	if h == nil {
		r.is("the code of a scale of what is not there", 404, a.code)
		return
	}
	r.is("the code of a scale", 200, a.code)
	next := h.state.copied()
	next.at("spec")["replicas"] = float64(n)
	next.meta()["generation"] = next.meta()["generation"].(float64) + 1
	h.changedBy("cli/Update/scale", h.state, next)
	r.commit(path, h, "MODIFIED", next)
	got := a.state()
	r.is("the revision of the Store", r.revision, r.cluster.Store().Revision())
	r.is("the replicas that a scale asks for", n, got.at("spec").number("replicas"))
	r.is("the replicas that a scale has", h.state.at("status").number("seen"), got.at("status").number("replicas"))
	r.is("the version of a scale", h.state.text("resourceVersion"), got.text("resourceVersion"))
}

func (r *round) apply(k kind, path string) {
	who, force := r.one2("one", "two"), r.IntN(3) == 0
	name := path[strings.LastIndex(path, "/")+1:]
	c := state{"apiVersion": "example.dev/v1", "kind": k.name, "metadata": state{"name": name}, "spec": state{"color": r.one2("red", "blue")}}
	if r.IntN(2) == 0 {
		c.at("spec")["size"] = r.IntN(2)
	}
	// Always: where an apply takes the last label out, it may leave labels that are empty, and the next write, which changes nothing, takes out those.
	c.meta()["labels"] = state{"app": r.one2("x", "y")}
	foreign := r.live[path] == nil && r.IntN(8) == 0
	if foreign {
		c.meta()["uid"] = "other"
	}
	r.doing = fmt.Sprintf("an apply to %s by %s, force %t, of %s", path, who, force, text(c))
	query := "?fieldManager=" + who
	if force {
		query += "&force=true"
	}
	a := r.ask("PATCH", path+query, mediaApply, c)
	got := a.state()
	h := r.live[path]
	if foreign {
		r.is("the code of an apply to an object that has gone", 409, a.code)
		return
	}
	if h == nil {
		r.is("the code of an apply of what is not there", 201, a.code)
		want := decoded(c)
		m := want.meta()
		m["generation"], m["creationTimestamp"], m["uid"] = 1, r.now(), got.text("uid")
		if k.namespaced {
			m["namespace"] = "n"
		}
		h = &held{kind: k, owners: owners{}}
		h.changedBy(who+"/Apply/", state{}, c.copied())
		r.uids[got.text("uid")] = true
		r.commit(path, h, "ADDED", want.copied())
		r.is("the answer", h.state.shown(), got.shown())
		return
	}
	owners := h.owners.copied()
	next, conflict, changed := owners.applied(who+"/Apply/", force, h.state, c)
	if conflict {
		r.is("the code of an apply that conflicts", 409, a.code)
		return
	}
	r.is("the code of an apply", 200, a.code)
	next = next.copied()
	if a, b := body(k, next), body(k, h.state); text(a) != text(b) {
		next.meta()["generation"] = h.state.meta()["generation"].(float64) + 1
	}
	if valued := !equal(next, h.state); changed || valued {
		h.owners = owners
		r.commit(path, h, "MODIFIED", next)
		if valued { // whoever only comes to own what is there has no time
			r.managed(got, who, "Apply", "")
		}
		owned := ownersOf(got)
		for f := range leaves(c.copied()) { // order: each by itself
			r.is("whether the owners of "+f+" are who has applied it", true, owned[f][who+"/Apply/"])
		}
	}
	r.is("the answer", h.state.shown(), got.shown())
}
