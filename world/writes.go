package world

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/world/wire"
)

// workloadClient is the client of the body's own writes; "conn/workload" in traces. No fault is picked for its requests; those that fail for
// other reasons (a replica's restart) are repeated.
const workloadClient = "workload"

const (
	// retryWait is the virtual time before a failed request is repeated.
	retryWait = time.Second
	// answerWait is the virtual time that passes at once where an answer needs some.
	answerWait = time.Second
)

// writer makes the writes that the body asked for, one after the other, up to the first that is refused. Each is repeated until it is answered.
type writer struct {
	w       *world
	a       *ask
	writes  []wire.Write
	current *types.Resource // of the write under way
	s       *sink           // of its request
	path    string
	doubt   bool // an earlier attempt may have succeeded
	waiting bool // before it is repeated
	results wire.Packet
}

func (w *world) newWriter(a *ask, words []string) {
	x := &writer{w: w, a: a, writes: make([]wire.Write, len(words))}
	for n, text := range words {
		if err := json.Unmarshal([]byte(text), &x.writes[n]); err != nil {
			x.refused(err)
		}
	}
	a.do, a.until = x.send, x.until
	a.reply = func(p *wire.Packet) { p.Append(&x.results) }
}

// refused ends the writes with an error.
func (x *writer) refused(err error) {
	x.results.Error(err).Bytes(nil)
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
	r.OnPanic = func(p any, stack []byte) { x.w.panicked(r, p, stack) }
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
	case x.repeat():
		x.doubt = x.doubt || x.s.err != nil || x.s.code == http.StatusGatewayTimeout
		x.waiting = true
		clock.LimitTo(retryWait)
	default:
		return x.answered()
	}
	return false
}

// repeat reports whether the request has to be sent again.
func (x *writer) repeat() bool {
	return x.s.err != nil || x.s.code >= 500 || x.s.code == http.StatusTooManyRequests
}

// answered notes the result of the current write and begins the next. It reports whether there is none.
func (x *writer) answered() bool {
	wr, code := &x.writes[0], x.s.code
	switch {
	case code < 300 && wr.Method == http.MethodDelete, x.doubt && wr.Method == http.MethodDelete && code == http.StatusNotFound:
		x.results.Error(nil).Bytes(nil)
	case code < 300:
		x.results.Error(nil).Bytes(x.s.body)
	case x.doubt && code == http.StatusConflict && (wr.Method == http.MethodPost || wr.Method == http.MethodPut):
		live, err := x.live(wr)
		if err != nil {
			x.refused(err)
			return true
		}
		x.results.Error(nil).Bytes(live)
	default:
		x.refused(x.refusal(wr))
		return true
	}
	x.writes, x.doubt = x.writes[1:], false
	if len(x.writes) == 0 {
		return true
	}
	x.w.body.again()
	return false
}

// refusal makes an error of an answer.
func (x *writer) refusal(wr *wire.Write) error {
	described := fmt.Sprintf("%s %s/%s", x.current.Plural, x.namespace(wr), wr.Name)
	var st metav1.Status
	if json.Unmarshal(x.s.body, &st) != nil || st.Message == "" {
		return fmt.Errorf("%s: %d %s", described, x.s.code, strings.TrimSpace(string(x.s.body)))
	}
	return fmt.Errorf("%s: %s", described, st.Message)
}

func (x *writer) namespace(wr *wire.Write) string {
	switch {
	case !x.current.Namespaced:
		return ""
	case wr.Namespace == "":
		return metav1.NamespaceDefault
	}
	return wr.Namespace
}

// live returns the newest state of a write's object as JSON.
func (x *writer) live(wr *wire.Write) ([]byte, error) {
	id, ok := x.w.cluster.FindResource(x.current.GroupResource())
	if !ok {
		return nil, fmt.Errorf("%s is not served", x.current)
	}
	obj, rev := x.w.cluster.Store().Get(id, x.namespace(wr), wr.Name)
	if rev == 0 || obj == nil {
		return nil, apierrors.NewNotFound(x.current.GroupResource(), wr.Name)
	}
	return encoded(x.current, obj)
}

// request returns the request for a write.
func (x *writer) request(wr *wire.Write) (*rest.Request, error) {
	gvk := schema.FromAPIVersionAndKind(wr.APIVersion, wr.Kind)
	var err error
	if x.current, err = x.w.mapper.byKind(gvk); err != nil {
		return nil, err
	}
	if wr.OrCreate {
		wr.Method, wr.ContentType = http.MethodPatch, "application/merge-patch+json"
		if _, err := x.live(wr); apierrors.IsNotFound(err) {
			wr.Method, wr.ContentType = http.MethodPost, ""
		}
	}
	path := resourcePath(x.current, x.namespace(wr))
	if wr.Method != http.MethodPost {
		path += "/" + wr.Name
	}
	if wr.Subresource != "" {
		path += "/" + wr.Subresource
	}
	r := &rest.Request{Method: wr.Method, URL: &url.URL{Path: path}, Header: http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}, Client: workloadClient}
	if wr.ContentType != "" {
		r.Header.Set("Content-Type", wr.ContentType)
	}
	if wr.Method == http.MethodDelete {
		r.Body = []byte(`{"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":0}`)
		return r, nil
	}
	r.Body, err = x.body(wr, gvk)
	return r, err
}

// body returns the body of a write.
func (x *writer) body(wr *wire.Write, gvk schema.GroupVersionKind) ([]byte, error) {
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(wr.Object, &u.Object); err != nil { // integers stay integers
		return nil, err
	}
	u.SetGroupVersionKind(gvk)
	if ns := x.namespace(wr); u.GetNamespace() != ns {
		u.SetNamespace(ns)
	}
	switch {
	case wr.Method == http.MethodPost:
		u.SetResourceVersion("")
		u.SetUID("")
	case wr.Method == http.MethodPut && u.GetResourceVersion() == "":
		data, err := x.live(wr)
		if err != nil {
			return nil, err
		}
		var live metav1.PartialObjectMetadata
		if err := json.Unmarshal(data, &live); err != nil {
			return nil, err
		}
		u.SetResourceVersion(live.ResourceVersion)
	}
	return json.Marshal(u.Object)
}

// resourcePath returns the URL path of a resource.
func resourcePath(r *types.Resource, namespace string) string {
	path := "/apis/" + r.Group + "/" + r.Version
	if r.Group == "" {
		path = "/api/" + r.Version
	}
	if r.Namespaced {
		path += "/namespaces/" + namespace
	}
	return path + "/" + r.Plural
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
