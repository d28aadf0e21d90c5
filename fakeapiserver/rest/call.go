package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/render"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/fakeapiserver/types"
)

type metaObject = metav1.Object

// call is one request in flight, and the receiver of its results from the connection.
type call struct {
	server   *Server
	client   *fakeapiserver.Client
	request  *Request
	sink     Sink
	target   target
	resource *types.Resource
	id       store.ResourceID
	verb     verb
	req      fakeapiserver.ReqID
	encoder  encoder
	warnings []string

	// answer sends the response once the connection lets it through; answered describes it.
	answer   func()
	answered string
	// late is how long after that it is sent.
	late time.Duration
	// written is the object that a write has left, nil for a dry run.
	written runtime.Object
	// failure is the error that is answered, nil if there is none; prepared is the next event's frame, if it had to be made early.
	failure  error
	prepared []byte
	// single is set for a get, which is a list of one object.
	single bool
	opened bool
	// refused is set once the authorizer has refused the request.
	refused bool
}

var _ fakeapiserver.Receiver = (*call)(nil)

// atReplica runs serve when a replica has the request; the connection decides when the resulting answer is sent.
func (c *call) atReplica(serve func()) (cancel func()) {
	w := fakeapiserver.Write{
		Verb: fakeapiserver.WriteVerb(c.verb), Resource: c.id, Namespace: c.target.namespace, Name: c.target.name, Named: c.createdName,
		Serve: func() (runtime.Object, error) {
			defer c.answerPanic()
			serve()
			return c.written, nil
		},
	}
	if w.Note = c.target.below(); w.Note == "" && c.verb == verbCreate {
		w.Note = jsonName(c.request.Body)
	}
	if c.resource == nil {
		w.Verb, w.Path, w.Named, w.Note = fakeapiserver.WriteVerb(strings.ToLower(c.request.Method)), c.request.URL.Path, nil, ""
	}
	send := func() { c.req = c.client.Write(w, c) }
	if c.request.Sending == nil {
		send()
	} else {
		c.request.Sending(send)
	}
	return c.cancel
}

// jsonName returns the name of an object as JSON, "" if it has none or is something else, and "NAME*" for one that the server has to name. Unlike
// createdName, it converts nothing.
func jsonName(body []byte) string {
	var obj struct {
		Metadata struct{ Name, GenerateName string }
	}
	if !bytes.HasPrefix(body, []byte("{")) || json.Unmarshal(body, &obj) != nil {
		return ""
	}
	if obj.Metadata.Name == "" && obj.Metadata.GenerateName != "" {
		return obj.Metadata.GenerateName + "*"
	}
	return obj.Metadata.Name
}

// createdName returns the name in the body of a create, "" if it has none or is none.
func (c *call) createdName() (name string) {
	if c.verb != verbCreate || c.target.subresource != "" {
		return ""
	}
	defer func() { _ = recover() }() // what a body can break is answered when the request is served
	obj, _, err := c.resource.Decode(c.body(), "")
	if err != nil {
		return ""
	}
	m, err := store.Meta(obj)
	if err != nil {
		return ""
	}
	return m.GetName()
}

// answerPanic answers a panic with a 500 inside the step, so that it disturbs neither the kernel nor other requests.
func (c *call) answerPanic() {
	onPanic := c.request.OnPanic
	if onPanic == nil {
		return // without a hook, let the panic through
	}
	if p := recover(); p != nil {
		onPanic(p, debug.Stack())
		c.fail(&apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError,
			Message: fmt.Sprintf("This request caused apiserver to panic. Look in the logs for details: %v", p),
		}})
	}
}

func (c *call) cancel() { c.client.Cancel(c.req) }

// respond holds an answer until the connection lets it through.
func (c *call) respond(code int, h http.Header, body []byte) {
	c.respondPieces(code, h, Body{Head: body})
}

func (c *call) respondPieces(code int, h http.Header, body Body) {
	h = c.warn(h)
	c.answered = fmt.Sprintf("%d %s", code, http.StatusText(code))
	c.answer = func() { c.sink.Answer(code, h, body) }
}

// warn adds the warnings to h.
func (c *call) warn(h http.Header) http.Header {
	for _, w := range c.warnings {
		h.Add("Warning", fmt.Sprintf("299 - %q", w))
	}
	return h
}

// send sends the response.
func (c *call) send() {
	if c.late == 0 {
		c.answer()
		return
	}
	c.server.cluster.Kernel().Clock().AfterFunc(c.late, c.answer)
}

// delay has an error answered as late as it says.
func (c *call) delay(err error) {
	var late *types.Late
	if errors.As(err, &late) {
		c.late = late.After
	}
}

// refuse answers with what the authorizer has against a request.
func (c *call) refuse(err error) {
	c.refused = true
	c.fail(err)
}

// fail answers with an error.
func (c *call) fail(err error) {
	c.delay(err)
	if errors.Is(err, types.ErrNoAnswer) {
		c.answer, c.answered = func() { c.sink.Fail(err) }, err.Error()
		return
	}
	c.failure = &apierrors.StatusError{ErrStatus: *render.Status(err)}
	a := c.encoder.ask.Error(err)
	h := header(a.ContentType)
	if c.refused {
		h.Set(contentTypeOptions, "nosniff")
	}
	if a.RetryAfterSeconds > 0 {
		h.Set("Retry-After", strconv.Itoa(a.RetryAfterSeconds))
	}
	c.respond(a.Code, h, a.Body)
	c.answered = describeError(err)
}

// notFoundPage answers a request for an unknown resource or version (S37).
func (c *call) notFoundPage() {
	c.respond(http.StatusNotFound, page(), []byte("404 page not found\n"))
}

// brokenConnection reports whether err comes from the connection and not from the server.
func brokenConnection(err error) bool {
	var api apierrors.APIStatus
	return !errors.As(err, &api)
}

// noKindPage answers a path like /watch or /proxy that names no resource after it.
func (c *call) noKindPage() {
	path := c.request.URL.Path
	c.respond(http.StatusInternalServerError, page(), fmt.Appendf(nil,
		"Internal Server Error: %q: failed to create RequestInfo: unable to determine kind and namespace from url, %v\n", c.request.URL.RequestURI(), path))
}

// OnWrite implements fakeapiserver.Receiver: it gets the answer to everything but gets, lists and watches.
func (c *call) OnWrite(_ fakeapiserver.ReqID, _ runtime.Object, err error) {
	switch {
	case err == nil:
		c.send()
	case brokenConnection(err):
		c.sink.Fail(err)
	default: // a fault answers in the server's place
		c.fail(err)
		c.answer()
	}
}

// answerPage builds the answer to a get or list.
func (c *call) answerPage(page *fakeapiserver.Page) {
	defer c.answerPanic()
	if c.single {
		c.answerGet(page)
		return
	}
	c.answerList(page)
}

// OnList implements fakeapiserver.Receiver.
func (c *call) OnList(_ fakeapiserver.ReqID, page *fakeapiserver.Page, err error) {
	switch {
	case err != nil && brokenConnection(err):
		c.sink.Fail(err)
		return
	case err != nil:
		c.fail(err)
	case c.answer == nil: // it has not been prepared
		c.answerPage(page)
	}
	c.send()
}
