package wellbehaved

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kinds "k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// write is a commit and who made it.
type write struct {
	role    Role
	client  sim.ActorID
	name    string   // of the client, without "conn/"
	request *Request // nil if nothing is known of it
	number  int64    // of the request
}

// writeOf returns who makes the commit of a record.
func (o *Options) writeOf(w property.World) write {
	cl, n := w.Cluster().Serving()
	if cl == nil {
		return write{role: Cluster}
	}
	x := write{role: o.Role(cl.Actor()), client: cl.Actor(), name: strings.TrimPrefix(cl.Name(), "conn/"), number: int64(n)}
	x.request = o.Sent(x.client, x.number)
	return x
}

// rewrites reports whether a commit gives an object a new resourceVersion only, which no client asks for.
func (x *write) rewrites(r *sim.Record) bool {
	return x.role == Cluster && x.client == 0 && r.Detail == "MODIFIED" && len(changes(r.Old, r.Obj)) == 0
}

// sends says that its request was sent.
func (x *write) sends() reports.Evidence {
	return reports.Evidence{Step: x.request.Step, At: x.request.At, Text: fmt.Sprintf("%s sends %s %s", x.name, x.request.Method, x.request.Path)}
}

// own is the program in the User-Agent of a client that has no other one.
const own = "simtest"

// who names the writer of a field: two controllers in one process differ by their field managers only.
func (x *write) who() string {
	if x.request == nil || x.request.Manager == "" || x.request.Manager == x.name || x.request.Manager == own {
		return x.name
	}
	return fmt.Sprintf("%s (field manager %q)", x.name, x.request.Manager)
}

// subresource returns the path below an object that a request writes, "/status", "" for the object itself. Records do not have it.
func (q *Request) subresource(object string) string {
	name := "/" + object[strings.LastIndexAny(object, " /")+1:] + "/"
	path, _, _ := strings.Cut(q.Path, "?")
	at := strings.LastIndex(path, name)
	if at < 0 || strings.Contains(path[at+len(name):], "/") {
		return ""
	}
	return path[at+len(name)-1:]
}

// writes reports whether a request makes an object, or changes one.
func (q *Request) writes() bool {
	return q.Method == http.MethodPost || q.Method == http.MethodPut || q.Method == http.MethodPatch
}

// changing returns what a controller's request is to change, if it is a PUT or a PATCH of more than bookkeeping.
func (o *Options) changing(r *sim.Record) (target, bool) {
	q := o.Sent(r.Actor, r.N)
	if q == nil || q.Method != http.MethodPut && q.Method != http.MethodPatch || Bookkeeping(r.Key) || o.Role(r.Actor) != Controller {
		return target{}, false
	}
	object := objectOf(r)
	return target{r.Actor, object, q.subresource(object)}, true
}

// pluralOf returns the plural of a record's key.
func pluralOf(key string) string {
	plural, _, _ := strings.Cut(key, " ")
	return plural
}

// Bookkeeping reports whether an object is of a kind with which components say that they are alive, or what they did: it says nothing of
// what is wanted, and renewing it is no reconcile.
func Bookkeeping(key string) bool {
	p := pluralOf(key)
	return p == "leases" || p == "events"
}

// leader is the annotation in which older leader elections keep their lock, in an object of any kind.
const leader = "metadata.annotations.control-plane.alpha.kubernetes.io/leader"

// change is a field whose value a write has changed.
type change struct{ field, value string }

// changes returns the fields in which two states of an object differ, in the order of their paths. What the server writes with each change
// is left out.
func changes(old, obj any) []change {
	var all []change
	differ("", content(old), content(obj), &all)
	return slices.DeleteFunc(all, func(c change) bool {
		switch c.field {
		case "metadata.resourceVersion", "metadata.generation", "metadata.managedFields", leader:
			return true
		}
		return strings.HasPrefix(c.field, "metadata.managedFields[")
	})
}

// content returns an object as maps and lists. They are shared with it: nobody changes them.
func content(obj any) map[string]any {
	switch obj := obj.(type) {
	case nil:
		return nil
	case *unstructured.Unstructured:
		return obj.Object
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil
	}
	return m
}

func differ(field string, old, obj any, all *[]change) {
	if _, is := obj.(map[string]any); is && old == nil {
		old = map[string]any{}
	} else if _, is := old.(map[string]any); is && obj == nil {
		obj = map[string]any{}
	}
	switch a := old.(type) {
	case map[string]any:
		b, is := obj.(map[string]any)
		if !is {
			break
		}
		names := slices.Collect(maps.Keys(a)) // order: sorted below
		for name := range b {                 // order: sorted below
			if _, both := a[name]; !both {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			differ(strings.TrimPrefix(field+"."+name, "."), a[name], b[name], all)
		}
		return
	case []any:
		b, is := obj.([]any)
		if !is || len(a) != len(b) {
			break
		}
		for n := range a {
			differ(fmt.Sprintf("%s[%d]", field, n), a[n], b[n], all)
		}
		return
	}
	if value := text(obj); value != text(old) {
		*all = append(*all, change{field, value})
	}
}

// text returns a value as JSON.
func text(v any) string {
	if v == nil {
		return "unset"
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}

// shown shortens a value for a message.
func shown(value string) string {
	const most = 60
	if r := []rune(value); len(r) > most {
		return string(r[:most]) + "…"
	}
	return value
}

// meta returns an object's metadata, nil if it has none.
func meta(obj any) metav1.Object {
	m, _ := obj.(metav1.Object)
	return m
}

// stored is an object in the Store.
type stored struct {
	key string // as in records
	obj metav1.Object
}

// all returns the objects of the Store by their uids.
func all(w property.World) map[kinds.UID]stored {
	found := map[kinds.UID]stored{}
	for _, s := range inOrder(w) {
		found[s.obj.GetUID()] = s
	}
	return found
}

// inOrder returns the objects of the Store in its order.
func inOrder(w property.World) (found []stored) {
	s := w.Cluster().Store()
	for id, r := range s.Resources() {
		s.Newest(store.ResourceID(id), "", func(key string, obj runtime.Object) bool {
			if m := meta(obj); m != nil {
				found = append(found, stored{r.Plural + " " + key, m})
			}
			return true
		})
	}
	return found
}

// span rounds a duration to what is worth reading.
func span(d time.Duration) time.Duration {
	if d > time.Minute {
		return d.Round(time.Second)
	}
	return d.Round(time.Millisecond)
}

// moment is when something happened.
type moment struct {
	step uint64
	at   time.Duration
}

func momentOf(r *sim.Record) moment { return moment{r.Step, r.At} }
