package requests

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
)

// selector is what lists and deletions of many select by.
func (r *round) selector(k kind) (query string, selects func(state) bool) {
	switch n := r.IntN(6); {
	case n == 0:
		return "&labelSelector=app%3Dx", func(s state) bool { return s.meta().at("labels")["app"] == "x" }
	case n == 1:
		return "&labelSelector=app", func(s state) bool { return s.meta().at("labels")["app"] != nil }
	case n == 2 && k.status:
		return "&fieldSelector=spec.color%3Dred", func(s state) bool { return s.at("spec")["color"] == "red" }
	case n == 4 && k.status:
		return "&labelSelector=app!%3Dx&fieldSelector=spec.color%3Dgrey", func(s state) bool {
			return s.meta().at("labels")["app"] != "x" && s.at("spec")["color"] == "grey"
		}
	case n == 3:
		return "&fieldSelector=metadata.name%3Da", func(s state) bool { return s.text("name") == "a" }
	}
	return "", func(state) bool { return true }
}

func (r *round) list(k kind) {
	query, selects := r.selector(k)
	revision := r.revision
	version := ""
	if r.IntN(3) == 0 && revision > first {
		revision -= r.IntN(min(4, revision-first))
		version = fmt.Sprintf("&resourceVersion=%d&resourceVersionMatch=Exact", revision)
	}
	limit := r.IntN(3)
	r.doing = fmt.Sprintf("a list of %s%s%s, limit %d", k.plural, query, version, limit)
	var want, got []state
	for _, s := range r.sorted(k, revision) {
		if selects(s) {
			want = append(want, s)
		}
	}
	next := ""
	for range 20 {
		q := "?x=y" + query
		if limit > 0 {
			q += "&limit=" + strconv.Itoa(limit)
		}
		if next == "" {
			q += version
		} else {
			q += "&continue=" + url.QueryEscape(next)
		}
		a := r.ask("GET", k.path()+q, "", nil)
		r.is("the code of a list", 200, a.code)
		page := a.state()
		r.is("the version of a list", strconv.Itoa(revision), page.text("resourceVersion"))
		for _, item := range slicesOf(page["items"]) {
			got = append(got, state(item.(map[string]any)).shown())
		}
		if next = page.text("continue"); next == "" || r.wrong != "" {
			break
		}
	}
	r.is("the items of a list", want, got)
}

// reads makes reads that are refused, or of something else than the object.
func (r *round) reads(k kind, path string) {
	r.doing = "reads of " + path
	r.is("the code of a list by a field that cannot be selected", 400, r.ask("GET", k.path()+"?fieldSelector=spec.size%3D1", "", nil).code)
	r.is("the code of a get at an odd version", 500, r.ask("GET", path+"?resourceVersion=abc", "", nil).code)
	r.is("the code of a patch of another type", 415, r.ask("PATCH", path, "application/strategic-merge-patch+json", state{}).code)
	late := r.ask("GET", fmt.Sprintf("%s?resourceVersion=%d", path, r.revision+5), "", nil)
	r.is("the code of a get of the future, at first", 0, late.code)
	r.passes(4e9)
	r.is("the code of a get of the future", 504, late.code)
	h := r.live[path]
	if h == nil {
		return
	}
	partial := r.asks("GET", path, mediaJSON+";as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "", nil).state()
	r.is("the kind of metadata", "PartialObjectMetadata", partial["kind"])
	r.is("the metadata", h.state.shown()["metadata"], partial.shown()["metadata"])
	table := r.asks("GET", path, mediaJSON+";as=Table;g=meta.k8s.io;v=v1", "", nil).state()
	r.is("the kind of a table", "Table", table["kind"])
	r.is("the rows of a table", 1, len(slicesOf(table["rows"])))
	if k.scale && h.state.at("spec")["replicas"] != nil {
		scale := r.ask("GET", path+"/scale", "", nil).state()
		r.is("the replicas that a scale asks for", h.state.at("spec").number("replicas"), scale.at("spec").number("replicas"))
		r.is("the replicas that a scale has", h.state.at("status").number("seen"), scale.at("status").number("replicas"))
		r.is("the version of a scale", h.state.text("resourceVersion"), scale.text("resourceVersion"))
		r.is("the uid of a scale", h.state.text("uid"), scale.text("uid"))
	}
	if k.status {
		r.is("the object, by its status", h.state.shown(), r.ask("GET", path+"/status", "", nil).state().shown())
	}
}

// watched compares what a watch brings of all that has happened with the model.
func (r *round) watched() {
	for _, k := range kinds {
		r.doing = "a watch of " + k.plural
		// The watch cache is as old as the server.
		path := fmt.Sprintf("%s?watch=1&resourceVersion=%d&timeoutSeconds=1", k.path(), first-1)
		a := r.ask("GET", path, "", nil)
		r.passes(2e9)
		r.is("the code of a watch", 200, a.code)
		r.is("whether a watch ends when its time is over", true, a.closed)
		var want, got []string
		for _, c := range r.changes {
			if c.kind == k {
				want = append(want, c.event+" "+text(c.state))
			}
		}
		for _, frame := range a.frames {
			var e struct {
				Type   string
				Object state
			}
			if err := json.Unmarshal([]byte(frame), &e); err != nil {
				r.is("a frame", "JSON", frame)
				return
			}
			got = append(got, e.Type+" "+text(e.Object.shown()))
		}
		for n := range max(len(want), len(got)) {
			if n >= len(want) || n >= len(got) {
				r.is("the number of events", len(want), len(got))
			} else {
				r.is("an event", want[n], got[n])
			}
		}
	}
}
