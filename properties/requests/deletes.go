package requests

import (
	"fmt"
	"slices"
)

func (r *round) delete(k kind, path string) {
	h := r.live[path]
	o := state{}
	code := 200
	policy := ""
	if h == nil {
		code = 404
	} else {
		pre := state{}
		if r.IntN(6) == 0 {
			if pre["uid"] = r.one2("other", h.state.text("uid")); pre["uid"] == "other" {
				code = 409
			}
		}
		if r.IntN(6) == 0 {
			if v := r.version(h); v != nil {
				if pre["resourceVersion"] = v; v != h.state.text("resourceVersion") {
					code = 409
				}
			}
		}
		if len(pre) > 0 {
			o["preconditions"] = pre
		}
		if r.IntN(4) == 0 {
			policy = []string{"Orphan", "Foreground", "Background"}[r.IntN(3)]
			o["propagationPolicy"] = policy
		}
	}
	dry := r.IntN(8) == 0
	if dry {
		o["dryRun"] = []any{"All"}
	}
	r.doing = fmt.Sprintf("a delete of %s %s", path, text(o))
	a := r.ask("DELETE", path, mediaJSON, o)
	r.is("the code of the delete", code, a.code)
	if code != 200 || r.wrong != "" {
		return
	}
	got := a.state()
	before := h.state
	gone := r.deleted(path, h, policy, dry)
	switch {
	case gone:
		r.is("the kind of the answer to a delete", "Status", got["kind"])
		r.is("what it says was deleted", before.text("uid"), got.at("details")["uid"])
	case !dry:
		r.is("the answer to a delete that waits", h.state.shown(), got.shown())
	}
}

// deleted notes a delete, and reports whether the object goes at once.
func (r *round) deleted(path string, h *held, policy string, dry bool) (gone bool) {
	var finalizers []string
	orphan, foreground := false, false
	for _, f := range h.state.finalizers() {
		switch f {
		case "orphan":
			orphan = true
		case "foregroundDeletion":
			foreground = true
		default:
			finalizers = append(finalizers, f)
		}
	}
	if policy != "" {
		orphan, foreground = policy == "Orphan", policy == "Foreground"
	}
	if orphan {
		finalizers = append(finalizers, "orphan")
	}
	if foreground {
		finalizers = append(finalizers, "foregroundDeletion")
	}
	if dry {
		return len(finalizers) == 0
	}
	if len(finalizers) == 0 {
		r.commit(path, h, "DELETED", nil)
		return true
	}
	if h.state.deleting() && slices.Equal(finalizers, h.state.finalizers()) {
		return false
	}
	next := h.state.copied()
	m := next.meta()
	if !h.state.deleting() {
		m["generation"] = m["generation"].(float64) + 1
	}
	m["deletionTimestamp"], m["deletionGracePeriodSeconds"], m["finalizers"] = r.now(), 0, finalizers
	r.commit(path, h, "MODIFIED", next.copied())
	return false
}

func (r *round) deleteCollection(k kind) {
	query, selects := r.selector(k)
	revision := r.revision
	if r.IntN(3) == 0 && revision > first {
		revision -= r.IntN(min(4, revision-first))
		query += fmt.Sprintf("&resourceVersion=%d", revision)
	}
	r.doing = "a delete of all " + k.plural + query
	a := r.ask("DELETE", k.path()+"?"+query, mediaJSON, state{}) // without a body, the version is a precondition
	code := 200
	for _, s := range r.sorted(k, revision) {
		path := k.path() + "/" + s.text("name")
		h := r.live[path]
		if h == nil || !selects(s) {
			continue
		}
		if h.state.text("resourceVersion") != s.text("resourceVersion") {
			code = 409
			break
		}
		r.deleted(path, h, "", false)
	}
	r.is("the code of a delete of many", code, a.code)
}
