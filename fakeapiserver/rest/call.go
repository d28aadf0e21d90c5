package rest

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/fakeapiserver/types"
)

type metaObject = metav1.Object

// call is one request: what it asks for, and the connection's receiver of what comes of it.
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

	// answer is what is sent when the connection lets it through.
	answer func()
	// single is set for a get, which is a list of one.
	single bool
	opened bool
}

var _ fakeapiserver.Receiver = (*call)(nil)

// at has serve run when a replica has the request; what serve answers is sent when the connection lets it.
func (c *call) at(serve func()) (cancel func()) {
	c.req = c.client.Write(fakeapiserver.Write{
		Verb: fakeapiserver.WriteVerb(c.verb), Resource: c.id, Namespace: c.target.namespace, Name: c.target.name,
		Serve: func() (runtime.Object, error) {
			defer c.recover()
			serve()
			return nil, nil
		},
	}, c)
	return c.cancel
}

// recover answers a panic with a 500, inside the step, so that neither the kernel nor another request is disturbed.
func (c *call) recover() {
	told := c.request.OnPanic
	if told == nil {
		return // whoever is without a hook is to see it
	}
	if p := recover(); p != nil {
		told(p, debug.Stack())
		c.fail(&apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError,
			Message: fmt.Sprintf("This request caused apiserver to panic. Look in the logs for details: %v", p),
		}})
	}
}

func (c *call) cancel() { c.client.Cancel(c.req) }

// respond keeps an answer until the connection lets it through.
func (c *call) respond(code int, h http.Header, body []byte) {
	c.respondPieces(code, h, Body{Head: body})
}

func (c *call) respondPieces(code int, h http.Header, body Body) {
	h = c.warn(h)
	c.answer = func() { c.sink.Answer(code, h, body) }
}

// warn adds the warnings to a header.
func (c *call) warn(h http.Header) http.Header {
	for _, w := range c.warnings {
		h.Add("Warning", fmt.Sprintf("299 - %q", w))
	}
	return h
}

// fail answers with an error.
func (c *call) fail(err error) {
	if errors.Is(err, types.ErrNoAnswer) {
		c.answer = func() { c.sink.Fail(err) }
		return
	}
	a := c.encoder.ask.Error(err)
	h := header(a.ContentType)
	if a.RetryAfterSeconds > 0 {
		h.Set("Retry-After", strconv.Itoa(a.RetryAfterSeconds))
	}
	c.respond(a.Code, h, a.Body)
}

// notFoundPage is what an unknown resource or version gets (S37).
func (c *call) notFoundPage() {
	c.respond(http.StatusNotFound, header("text/plain; charset=utf-8"), []byte("404 page not found\n"))
}

// brokenConnection tells an error of the connection from an answer of the server.
func brokenConnection(err error) bool {
	var api apierrors.APIStatus
	return !errors.As(err, &api)
}

// noKindPage is what a path gets that says how something is to be reached, and not what.
func (c *call) noKindPage() {
	path := c.request.URL.Path
	c.respond(http.StatusInternalServerError, header("text/plain; charset=utf-8"), fmt.Appendf(nil,
		"Internal Server Error: %q: failed to create RequestInfo: unable to determine kind and namespace from url, %v\n", c.request.URL.RequestURI(), path))
}

// OnWrite implements fakeapiserver.Receiver: the answer of everything but lists and watches arrives.
func (c *call) OnWrite(_ fakeapiserver.ReqID, _ runtime.Object, err error) {
	switch {
	case err == nil:
		c.answer()
	case brokenConnection(err):
		c.sink.Fail(err)
	default: // a fault answers instead of the server
		c.fail(err)
		c.answer()
	}
}

// show makes the answer to a get or list.
func (c *call) show(page *fakeapiserver.Page) {
	defer c.recover()
	if c.single {
		c.got(page)
		return
	}
	c.listed(page)
}

// OnList implements fakeapiserver.Receiver.
func (c *call) OnList(_ fakeapiserver.ReqID, page *fakeapiserver.Page, err error) {
	switch {
	case err != nil && brokenConnection(err):
		c.sink.Fail(err)
		return
	case err != nil:
		c.fail(err)
	default:
		c.show(page)
	}
	c.answer()
}
