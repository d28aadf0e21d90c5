package world

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/world/wire"
)

// workloadClient is the client of the body's own writes; "conn/workload" in traces. No fault is picked for its requests; those that fail for
// other reasons (a replica's restart) are repeated.
const workloadClient = "workload"

// giveUpAfter is the virtual time for which a write that fails on the server's side is repeated. No fault of a mix lasts that long; a request
// that the server can never carry out (an object that is too large is a 500) would be repeated for ever.
const giveUpAfter = 10 * time.Minute

const (
	// retryWait is the virtual time before a failed request is repeated; it doubles up to maxRetryWait.
	retryWait    = time.Second
	maxRetryWait = 30 * time.Second
	// answerWait is the virtual time that passes at once where an answer needs some.
	answerWait = time.Second
)

// writer makes the writes that the body asked for, one after the other, up to the first that is refused. Each is repeated until it is in the
// Store: an answer may be lost after the write was committed, so whether it was is read in the Store, and only what was not is repeated. A second
// attempt would meet its own object, or delete another one.
type writer struct {
	w       *world
	a       *ask
	writes  []wire.Write
	results wire.Packet

	there []bool // whether the object of each write existed when the body asked

	// Of the write under way.
	resource *types.Resource
	over     bool          // over whatever is there: conflicts are repeated
	sent     string        // the resourceVersion that was sent
	s        *sink         // of its request
	trying   bool          // it was sent once
	began    time.Duration // when
	wait     time.Duration // before it is repeated
	waiting  bool
}

func (w *world) newWriter(a *ask, words []string) {
	x := &writer{w: w, a: a, writes: make([]wire.Write, len(words))}
	for n, text := range words {
		var err error
		if x.writes[n], err = wire.ReadWrite(text); err != nil {
			x.refused(err)
			break
		}
		x.there = append(x.there, x.exists(&x.writes[n]))
	}
	a.do, a.until = x.send, x.until
	a.reply = func(p *wire.Packet) { p.Append(&x.results) }
}

// exists reports whether there is the object that a write names.
func (x *writer) exists(wr *wire.Write) bool {
	resource, err := x.w.mapper.byKind(schema.FromAPIVersionAndKind(wr.APIVersion, wr.Kind))
	if err != nil {
		return false // request says so
	}
	rev, _ := x.revision(resource, wr)
	return rev != 0
}

// refused ends the writes with an error.
func (x *writer) refused(err error) {
	reason := ""
	var r *refusal
	if errors.As(err, &r) {
		reason = string(r.reason)
	}
	if x.resource != nil {
		wr := &x.writes[0]
		err = fmt.Errorf("%s %s: %w", x.resource.Plural, strings.TrimPrefix(x.namespace(wr)+"/"+wr.Name, "/"), err)
	}
	x.results.Error(err).Text(reason).Bytes(nil)
	x.writes = nil
}

// send sends the current write's request, in a step of the body's.
func (x *writer) send() {
	if len(x.writes) == 0 {
		return
	}
	x.s = &sink{}
	r, err := x.request(&x.writes[0])
	if err != nil {
		x.refused(err)
		return
	}
	if !x.trying {
		x.trying, x.began, x.wait = true, x.w.kernel.Elapsed(), retryWait
	}
	r.OnPanic = func(p any, stack []byte) { x.w.panicked(r, p, stack) }
	x.w.landing.forget()
	x.w.api.Serve(r, x.s)
}

// until goes on as far as it can without a step, and reports whether all is done.
func (x *writer) until() bool {
	clock := x.w.kernel.Clock()
	switch {
	case len(x.writes) == 0:
		return true
	case x.waiting && clock.AtLimit():
		x.waiting = false
		clock.Freeze()
		x.w.body.again()
	case x.waiting:
	case !x.s.done:
		if clock.AtLimit() && x.w.quiet() {
			clock.LimitTo(answerWait) // time passes only if the answer needs it
		}
	case x.failed():
		return x.repeat()
	case x.s.code >= 300:
		return x.refuse()
	default:
		return x.answered()
	}
	return false
}

// failed reports whether the request failed for a reason that may go away.
func (x *writer) failed() bool {
	return x.s.err != nil || x.s.code >= 500 || x.s.code == http.StatusTooManyRequests
}

// repeat repeats the request after a while, unless it was carried out. It reports whether there is nothing left to do.
func (x *writer) repeat() bool {
	if landed := x.w.landing.last; landed != nil {
		return x.take(landed)
	}
	if waited := x.w.kernel.Elapsed() - x.began; waited >= giveUpAfter {
		err := x.s.err
		if err == nil {
			err = refusalOf(x.s)
		}
		x.refused(fmt.Errorf("it has failed for %v; the last answer: %w", waited, err))
		return true
	}
	x.waiting = true
	x.w.kernel.Clock().LimitTo(x.wait)
	x.wait = min(2*x.wait, maxRetryWait)
	return false
}

// refuse handles a refusal, which is final unless another client was faster than a write that does not mind. It reports whether there is nothing
// left to do.
func (x *writer) refuse() bool {
	wr, refused := &x.writes[0], refusalOf(x.s)
	overtaken := x.there[0] && wr.Method != http.MethodPost && refused.reason == metav1.StatusReasonNotFound && !x.exists(wr)
	switch {
	case wr.OrCreate && wr.Method == http.MethodPost && refused.reason == metav1.StatusReasonAlreadyExists,
		wr.OrCreate && wr.Method == http.MethodPatch && refused.reason == metav1.StatusReasonNotFound,
		x.over && refused.reason == metav1.StatusReasonConflict && x.changed(wr):
		x.w.body.again()
		return false
	case overtaken && wr.Method == http.MethodDelete:
		return x.next(nil) // no test can prevent that, and what it wants is done
	case overtaken:
		x.refused(goneSince(refused, wr))
	case wr.Method == http.MethodPut && !x.over && refused.reason == metav1.StatusReasonConflict:
		x.refused(fmt.Errorf("%w\nThe object that was passed has resourceVersion %q, and another client has written since: change it with env.Mutate, "+
			"which reads it again, or clear its resourceVersion to write over whatever is there", refused, x.sent))
	default:
		x.refused(refused)
	}
	return true
}

// goneSince says that a write's object was deleted while the write was under way.
func goneSince(err error, wr *wire.Write) error {
	return fmt.Errorf("%w\nIt was there when %s was called, and has been deleted since: where what is tested may delete it at any time, write it with a client of "+
		"the test's own (env.RESTConfig), which gets the error", err, wr.Call)
}

// changed reports whether the object is not the one that was to be replaced.
func (x *writer) changed(wr *wire.Write) bool {
	live, err := x.live(wr)
	return err != nil || live != x.sent
}

// answered handles a success: the answer must be what the Store has. It reports whether there is nothing left to do.
func (x *writer) answered() bool {
	if x.writes[0].Method == http.MethodDelete {
		return x.next(nil)
	}
	// The answer to a write that takes the last finalizer from an object that is being deleted is the object as it was sent, not as it was deleted.
	if landed := x.w.landing.last; landed != nil && !landed.gone {
		if rv := versionIn(x.s.body); rv != "" && rv != landed.resourceVersion() {
			x.refused(fmt.Errorf("the server answers with resourceVersion %s, but has committed %s; this is a bug in informersim", rv, landed.resourceVersion()))
			return true
		}
	}
	return x.next(x.s.body)
}

// take takes the object from a commit whose answer was lost. It reports whether there is nothing left to do.
func (x *writer) take(landed *landedWrite) bool {
	if x.writes[0].Method == http.MethodDelete {
		return x.next(nil)
	}
	data, err := x.w.encoded(x.resource, landed.obj)
	if err != nil {
		x.refused(err)
		return true
	}
	return x.next(data)
}

// next notes the result of the current write and begins the next. It reports whether there is none.
func (x *writer) next(result []byte) bool {
	x.results.Error(nil).Text("").Bytes(result)
	x.writes, x.there, x.resource, x.trying = x.writes[1:], x.there[1:], nil, false
	if len(x.writes) == 0 {
		return true
	}
	x.w.body.again()
	return false
}

func (x *writer) namespace(wr *wire.Write) string { return namespaceOf(x.resource, wr) }

// namespaceOf returns the namespace of a write's object.
func namespaceOf(resource *types.Resource, wr *wire.Write) string {
	switch {
	case !resource.Namespaced:
		return ""
	case wr.Namespace == "":
		return metav1.NamespaceDefault
	}
	return wr.Namespace
}

// live returns the resourceVersion of the newest state of a write's object.
func (x *writer) live(wr *wire.Write) (string, error) {
	rev, served := x.revision(x.resource, wr)
	if !served {
		return "", fmt.Errorf("%s is not served", x.resource)
	}
	if rev == 0 {
		return "", apierrors.NewNotFound(x.resource.GroupResource(), wr.Name)
	}
	return strconv.FormatInt(rev, 10), nil
}

// revision returns that of the newest state of a write's object, 0 if there is none, and whether its kind is served.
func (x *writer) revision(resource *types.Resource, wr *wire.Write) (rev int64, served bool) {
	id, served := x.w.cluster.FindResource(resource.GroupResource())
	if !served {
		return 0, false
	}
	obj, rev := x.w.cluster.Store().Get(id, namespaceOf(resource, wr), wr.Name)
	if obj == nil {
		return 0, true
	}
	return rev, true
}

// request returns the request for a write.
func (x *writer) request(wr *wire.Write) (*rest.Request, error) {
	gvk := schema.FromAPIVersionAndKind(wr.APIVersion, wr.Kind)
	resource, err := x.w.mapper.byKind(gvk)
	if err != nil {
		return nil, err
	}
	x.resource, x.over, x.sent = resource, false, ""
	if wr.OrCreate {
		wr.Method, wr.ContentType = http.MethodPatch, "application/merge-patch+json"
		if _, err := x.live(wr); apierrors.IsNotFound(err) {
			wr.Method, wr.ContentType = http.MethodPost, ""
		}
	}
	u := &url.URL{Path: resourcePath(x.resource.GroupVersionResource(), x.resource.Namespaced, x.namespace(wr)), RawQuery: wr.Query}
	if wr.Method != http.MethodPost {
		u.Path += "/" + wr.Name
	}
	if wr.Subresource != "" {
		u.Path += "/" + wr.Subresource
	}
	r := &rest.Request{Method: wr.Method, URL: u, Header: http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}, Client: workloadClient}
	if wr.ContentType != "" {
		r.Header.Set("Content-Type", wr.ContentType)
	}
	switch {
	case wr.Method == http.MethodDelete:
		r.Body = deleteNow("")
	case wr.Method == http.MethodPatch && !wr.OrCreate:
		r.Body = wr.Object
	default:
		r.Body, err = x.body(wr, gvk)
	}
	return r, err
}

// body returns the body of a write that has an object. What the object need not have is edited in its JSON, without decoding it.
func (x *writer) body(wr *wire.Write, gvk schema.GroupVersionKind) ([]byte, error) {
	obj, err := readDocument(wr.Object)
	if err != nil {
		return nil, err
	}
	obj.apiVersion, obj.kind = gvk.ToAPIVersionAndKind()
	obj.setMeta("namespace", x.namespace(wr))
	switch wr.Method {
	case http.MethodPost:
		obj.setMeta("resourceVersion", "")
		obj.setMeta("uid", "")
	case http.MethodPut:
		x.sent = obj.meta("resourceVersion")
		if x.over = x.sent == ""; x.over {
			live, err := x.live(wr)
			if !apierrors.IsNotFound(err) && err != nil {
				return nil, err
			}
			if err != nil && x.there[0] {
				return nil, goneSince(err, wr)
			}
			if err != nil {
				return nil, fmt.Errorf("%w: %s replaces what exists; env.Create creates", err, wr.Call)
			}
			x.sent = live
			obj.setMeta("resourceVersion", live)
		}
	}
	return obj.bytes(), nil
}

// resourcePath returns the URL path of a resource.
func resourcePath(r schema.GroupVersionResource, namespaced bool, namespace string) string {
	path := "/apis/" + r.Group + "/" + r.Version
	if r.Group == "" {
		path = "/api/" + r.Version
	}
	if namespaced {
		path += "/namespaces/" + namespace
	}
	return path + "/" + r.Resource
}

// sink receives the answer to a request that is made here.
type sink struct {
	code   int
	header http.Header
	body   []byte
	err    error
	done   bool
}

// Answer implements rest.Sink.
func (s *sink) Answer(code int, h http.Header, body rest.Body) {
	s.code, s.header, s.body, s.done = code, h, body.Bytes(), true
}

// Open implements rest.Sink.
func (s *sink) Open(code int, _ http.Header) { s.code = code }

// Frame implements rest.Sink.
func (s *sink) Frame(b []byte) { s.body = append(s.body, b...) }

// Close implements rest.Sink.
func (s *sink) Close(err error) { s.err, s.done = err, true }

// Fail implements rest.Sink.
func (s *sink) Fail(err error) { s.err, s.done = err, true }
