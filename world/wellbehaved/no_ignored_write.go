package wellbehaved

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kinds "k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

const nameIgnored = "NoIgnoredWrite"

// noIgnoredWrite checks that what a controller writes, and the server accepts, is there afterwards. A status that is sent to the resource itself is ignored, and so are, of a custom resource,
// labels that are sent to /status, and fields that the schema does not have: the answer is 200 OK all the same. Built-in kinds take some of these, each others. An update counts with a resourceVersion only: what it has of the object is then
// as the object was, or the controller's. Who sends the status to /status later has only had it at hand.
func noIgnoredWrite(o *Options) property.Property {
	return property.Property{
		Name:      nameIgnored,
		Statement: "what a controller writes into a custom resource, or the status of any other, and the server accepts, is there afterwards",
		Kinds:     []sim.Kind{fakeapiserver.KindRequest, fakeapiserver.KindResponse, o.Restarts},
		New: func() property.Checker {
			s := &ignoring{o: o, sent: map[sentBy]target{}, all: map[target]*ignored{}}
			return property.Checker{Record: s.record, End: s.end}
		},
	}
}

// fewestIgnored are the writes in a row of which something was ignored: one may be the last thing before somebody else writes the same.
const fewestIgnored = 2

// ignoring follows what is ignored of writes.
type ignoring struct {
	o     *Options
	sent  map[sentBy]target // in flight
	all   map[target]*ignored
	order []target // of all
}

// ignored is what was ignored of a client's last write to a path.
type ignored struct {
	uid    kinds.UID
	body   map[string]any
	fields []string
	writes []reports.Evidence // in a row
}

// statusPath is the subresource with which a status is written.
const statusPath = "/status"

func (s *ignoring) record(w property.World, r *sim.Record) *reports.Violation {
	at := sentBy{r.Actor, r.N}
	switch r.Kind {
	case fakeapiserver.KindRequest:
		if to, changes := s.o.changing(r); changes {
			s.sent[at] = to
		}
	case fakeapiserver.KindResponse:
		to, is := s.sent[at]
		delete(s.sent, at)
		if is && meta(r.Obj) != nil && strings.HasPrefix(r.Detail, "2") {
			s.accepted(w, r, to)
		}
	default:
		if client, ok := clientOf(w, r); ok {
			maps.DeleteFunc(s.all, func(to target, _ *ignored) bool { return to.client == client })
		}
	}
	return nil
}

// accepted compares what was sent with the answer.
func (s *ignoring) accepted(w property.World, r *sim.Record, to target) {
	path, other := to.subresource, to
	switch path {
	case "":
		other.subresource = statusPath
	case statusPath:
		other.subresource = ""
	default:
		return
	}
	if x := s.all[other]; x != nil { // what was only at hand there is now written where it belongs
		x.fields = slices.DeleteFunc(x.fields, func(field string) bool { return belongs(field, path) })
		if len(x.fields) == 0 {
			delete(s.all, other)
		}
	}
	q := s.o.Sent(r.Actor, r.N)
	if q == nil {
		return
	}
	_, custom := r.Obj.(*unstructured.Unstructured)
	if !custom && path != "" {
		return
	}
	body := sentFields(q, storedPath(w, q.Path, to.object))
	if body == nil {
		return // it says nothing of what is at hand
	}
	var fields []string
	var what reports.Evidence
	missed("", body, content(r.Obj), func(field, value, got string) {
		if !misplaced(field, path) && !(custom && got == unset && belongs(field, path)) {
			return
		}
		if fields = append(fields, field); len(fields) == 1 {
			what = reports.Because(r, "%s sends %s %s with %s = %s, and is told: %s; in the answer it is %s", clientName(w, r.Actor), q.Method, q.Path, field, shown(value), r.Detail, shown(got))
		}
	})
	x := s.all[to]
	if len(fields) == 0 {
		delete(s.all, to)
		return
	}
	if !slices.Contains(s.order, to) {
		s.order = append(s.order, to)
	}
	if uid := meta(r.Obj).GetUID(); x == nil || x.uid != uid {
		x = &ignored{uid: uid}
		s.all[to] = x
	}
	x.body, x.fields, x.writes = body, fields, append(x.writes, what)
}

// storedPath returns how the path of an object begins in the version in which it is stored.
func storedPath(w property.World, path, object string) string {
	for _, r := range w.Cluster().Store().Resources() {
		begin := "/apis/" + r.Group + "/" + r.Version + "/"
		if r.Group == "" {
			begin = "/api/" + r.Version + "/"
		}
		if r.Plural == pluralOf(object) && strings.HasPrefix(path, begin) {
			return begin
		}
	}
	return "-"
}

// sentFields returns the fields that a request means to write of an object; nil if that cannot be said, or not in the version of the answer, in which paths begin so.
func sentFields(q *Request, begin string) (body map[string]any) {
	if !strings.HasPrefix(q.Path, begin) || json.Unmarshal([]byte(q.Body), &body) != nil {
		return nil
	}
	switch {
	case q.Method == http.MethodPut && (&unstructured.Unstructured{Object: body}).GetResourceVersion() != "":
		return body
	case strings.HasPrefix(q.ContentType, string(kinds.MergePatchType)):
		return body
	}
	return nil
}

// unset is how text shows what is not there.
const unset = "unset"

// missed visits the fields that were sent and are not so in an answer, in order. What is zero may be left out of it.
func missed(field string, sent, got any, visit func(field, value, got string)) {
	switch a := sent.(type) {
	case map[string]any:
		b, _ := got.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(a)) {
			missed(strings.TrimPrefix(field+"."+name, "."), a[name], b[name], visit)
		}
		return
	case []any:
		if b, is := got.([]any); is {
			for n := range a {
				if at := fmt.Sprintf("%s[%d]", field, n); n < len(b) {
					missed(at, a[n], b[n], visit)
				} else {
					visit(at, text(a[n]), "not there")
				}
			}
			return
		}
	}
	switch value := text(sent); value {
	case unset, "null", "[]", "0", "false", `""`:
	default:
		if there := text(got); there != value {
			visit(field, value, there)
		}
	}
}

// part returns the first name of a field's path.
func part(field string) string {
	first, _, _ := strings.Cut(field, ".")
	first, _, _ = strings.Cut(first, "[")
	return first
}

// belongs reports whether a field is written with a path: the status with /status, everything else but what the server says with the resource itself.
func belongs(field, path string) bool {
	if path == statusPath {
		return part(field) == "status"
	}
	return part(field) != "status" && (part(field) != "metadata" || ownMeta(field))
}

// misplaced reports whether a path ignores a field that a controller means to write. The spec that is sent to /status is none: defaults are often filled in at hand.
func misplaced(field, path string) bool {
	if path == statusPath {
		return ownMeta(field)
	}
	return part(field) == "status"
}

// ownMeta reports whether a field of the metadata is for clients to write.
func ownMeta(field string) bool {
	for _, own := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		if rest, is := strings.CutPrefix(field, "metadata."+own); is && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

func (s *ignoring) end(w property.World) *reports.Violation {
	if len(s.all) == 0 {
		return nil
	}
	objects := all(w)
	for _, to := range s.order {
		x := s.all[to]
		if x == nil || len(x.writes) < fewestIgnored || s.o.excepted(nameIgnored, clientName(w, to.client), to.object) {
			continue
		}
		now, is := objects[x.uid]
		if !is {
			continue
		}
		var v *reports.Violation
		missed("", x.body, content(now.obj), func(field, value, got string) {
			if v != nil || !slices.Contains(x.fields, field) {
				return
			}
			v = &reports.Violation{Key: to.object, Because: few(x.writes), Message: fmt.Sprintf("%s writes %s of %s, and the server accepts that and ignores it, %d times in a row: it is to be %s, and is %s. %s",
				clientName(w, to.client), field, to.object, len(x.writes), shown(value), shown(got), whyIgnored(field, to.subresource))}
		})
		if v != nil {
			return v
		}
	}
	return nil
}

// whyIgnored says why the server ignores a field that is sent to a path, and what to do.
func whyIgnored(field, path string) string {
	switch {
	case belongs(field, path):
		return "The schema of its CustomResourceDefinition does not have the field"
	case path == statusPath:
		return "A write to /status changes the status only: send the rest to the resource itself"
	}
	return "A write to the resource itself leaves the status as it is: send that to /status (UpdateStatus, or Status().Update)"
}
