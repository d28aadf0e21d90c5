package library

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// requestKind is a way to make a request.
type requestKind int

const (
	asObject   requestKind = iota
	asWhatever             // an object of the type that comes
	asBytes
	asStream
	asWatch
)

var requestKinds = [...]string{"Do", "Do with Get", "DoRaw", "Stream", "Watch"}

// requested is a request, and the model of what becomes of it.
type requested struct {
	*restServer
	kind   requestKind
	method string
	body   string // "" for none
	reader bool   // the body is a reader, which is read once
	most   int    // how often it is made again
	timed  bool   // it has a timeout
}

// restClients make a request of a server of which little goes well: it is made again where that is safe, after the pause that the server asks for, and in
// the end there is an answer or an error that says why not.
func restClients(c *check) {
	for range 20 {
		r := c.request()
		calls := 1
		if !r.reader && r.kind < asStream {
			calls += c.IntN(2) // the same request, which has its retries anew
		}
		made, cancel := r.build(c)
		if made == nil {
			return
		}
		for range calls {
			ctx := context.WithValue(silent, caller{}, "me")
			ctx, r.cancel = context.WithCancel(ctx)
			r.seen, r.attempts, r.waits, r.last = nil, 0, 0, nil
			want, ends := r.model()
			got := "a call that does not return"
			if !c.returns("a "+requestKinds[r.kind]+" request", func() { got = r.make(ctx, made) }) {
				return
			}
			c.is(fmt.Sprintf("what a %s request does, of %s", requestKinds[r.kind], r.plan()), want, r.seen)
			c.is(fmt.Sprintf("what comes of a %s request, of %s", requestKinds[r.kind], r.plan()), ends, got)
			c.is("how many bodies of answers a "+requestKinds[r.kind]+" request leaves open", 0, r.open)
			if r.kind != asStream {
				c.is("how many bodies of answers that are not wanted a "+requestKinds[r.kind]+" request leaves unread", 0, r.unread)
			}
			c.is("how many attempts of a "+requestKinds[r.kind]+" request do not say what they accept", 0, r.bare)
			c.is("how many long answers a "+requestKinds[r.kind]+" request reads on before it is made again", 0, r.overread)
			r.cancel()
		}
		cancel()
	}
	c.paths()
	c.restCalls()
}

// plan describes the answers, for a message.
func (r *requested) plan() string {
	var all []string
	for _, a := range r.answers {
		if a.lost.error != nil {
			all = append(all, a.lost.Error())
			continue
		}
		all = append(all, strings.TrimSpace(fmt.Sprint(a.code, " ", a.after))+map[bool]string{true: " with a warning"}[a.warns])
	}
	return fmt.Sprintf("%q, %d retries, canceled with %d, limited at %d", all, r.most, r.cancels, r.limited)
}

// request draws one.
func (c *check) request() *requested {
	r := &requested{restServer: &restServer{}, kind: requestKind(c.IntN(5)), method: http.MethodGet, most: c.IntN(4), timed: c.IntN(3) == 0}
	r.wants = func(a answer) bool { return a.lost.error == nil && r.takes(a.code) }
	if r.kind != asWatch && c.IntN(3) == 0 {
		r.method, r.body, r.reader = http.MethodPost, "a body", c.IntN(2) == 0
	}
	if c.IntN(6) == 0 {
		r.most = 10
	}
	for n := c.IntN(r.most + 2); n > 0; n-- {
		r.answers = append(r.answers, c.badAnswer())
	}
	if last := c.IntN(4); last > 0 || len(r.answers) == 0 {
		r.answers = append(r.answers, c.goodAnswer(r.kind))
	}
	if c.IntN(4) == 0 {
		r.cancels = 1 + c.IntN(3)
	}
	if c.IntN(4) == 0 {
		r.limited, r.limit, r.limitEnds = 1+c.IntN(3), []error{errLimit, context.Canceled}[c.IntN(2)], c.IntN(2) == 0
	}
	r.backoff = time.Duration(c.IntN(3)) * 2 * time.Second
	return r
}

// errLimit is an error of a rate limiter.
var errLimit = errors.New("no token is left")

func (c *check) badAnswer() answer {
	if c.IntN(2) == 0 {
		return answer{lost: losses[c.IntN(len(losses))]}
	}
	code := []int{429, 500, 503, 404, 409, 410}[c.IntN(6)]
	a := answer{code: code, after: []string{"", "0", "1", "3", "1", "3", "soon"}[c.IntN(7)], body: statusJSON(code), ends: io.EOF, warns: c.IntN(2) == 0}
	switch c.IntN(8) {
	case 0, 1:
		a.body, a.plain = said(code)+"\nand more\n", true
	case 2:
		a.body = "" // which says nothing
	}
	a.untyped = !a.plain && c.IntN(4) == 0
	if a.body != "" && c.IntN(6) == 0 {
		a.body += strings.Repeat(" ", 2*restSlurp)
	}
	return a
}

func (c *check) goodAnswer(kind requestKind) answer {
	a := answer{code: http.StatusOK, body: `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"1"}}`, ends: io.EOF, warns: c.IntN(2) == 0}
	if c.IntN(3) == 0 {
		a.code = []int{http.StatusCreated, http.StatusPartialContent}[c.IntN(2)]
	}
	switch {
	case kind == asWatch:
		a.body = ""
		for range c.IntN(3) {
			a.body += frameJSON[c.IntN(len(frameJSON))] + "\n"
		}
		a.body += []string{"", `{"type":"BOOKMARK"}`, `{"type":"ADDED","object":{"kind":"Unknown","apiVersion":"v1"}}`, `{"type":"ODD","object":{"kind":"Pod","apiVersion":"v1"}}`}[c.IntN(4)]
	case kind < asBytes && c.IntN(4) == 0:
		a.body = []string{successJSON, statusJSON(http.StatusConflict)}[c.IntN(2)]
	default:
		a.untyped = c.IntN(4) == 0
	}
	if c.IntN(4) == 0 {
		a.ends = io.ErrUnexpectedEOF
	}
	return a
}

// successJSON is a status of a request that succeeded, which is no error.
const successJSON = `{"kind":"Status","apiVersion":"v1","status":"Success"}`

// frameJSON are events of a watch that can be read.
var frameJSON = [...]string{
	`{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"1"}}}`,
	`{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"1"}}}`,
	`{"type":"DELETED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"1"}}}`,
	`{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"1"}}}`,
	`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","code":410}}`,
}

// build makes the request, for a client of its own.
func (r *requested) build(c *check) (*rest.Request, func()) {
	scheme, group := runtime.NewScheme(), schema.GroupVersion{Version: "v1"}
	scheme.AddKnownTypeWithName(group.WithKind("Pod"), &metav1.PartialObjectMetadata{})
	metav1.AddToGroupVersion(scheme, group)
	client, err := rest.RESTClientFor(&rest.Config{Host: "http://server", APIPath: "/api", RateLimiter: r.restServer, Transport: r.restServer, WarningHandlerWithContext: r.restServer, ContentConfig: rest.ContentConfig{
		GroupVersion: &group, NegotiatedSerializer: serializer.NewCodecFactory(scheme).WithoutConversion(),
	}})
	if c.no("RESTClientFor", err); err != nil {
		return nil, nil
	}
	made := client.Verb(r.method).Resource("pods").Name("a").BackOffWithContext(r.restServer)
	if r.timed {
		made.Timeout(time.Minute)
	}
	switch {
	case r.most == 0 && len(r.answers)%2 == 0:
		made.MaxRetries(-1) // as good as none
	case r.most != 10: // the default
		made.MaxRetries(r.most)
	}
	switch {
	case r.reader:
		made.Body(io.MultiReader(strings.NewReader(r.body)))
	case r.body != "":
		made.Body([]byte(r.body))
	}
	return made, client.Client.CloseIdleConnections
}

// make makes the request, and describes what came of it.
func (r *requested) make(ctx context.Context, made *rest.Request) string {
	switch r.kind {
	case asObject:
		into := &metav1.PartialObjectMetadata{}
		if err := made.Do(ctx).Into(into); err != nil {
			return r.failure(err)
		}
		return into.Name
	case asWhatever:
		obj, err := made.Do(ctx).Get()
		if err != nil {
			return r.failure(err)
		}
		if status, ok := obj.(*metav1.Status); ok {
			return status.Status
		}
		return text(obj)
	case asBytes:
		raw, err := made.DoRaw(ctx)
		if err != nil {
			return r.failure(err)
		}
		return string(raw)
	case asStream:
		stream, err := made.Stream(ctx)
		if err != nil {
			return r.failure(err)
		}
		raw, err := io.ReadAll(stream)
		if err := errors.Join(err, stream.Close()); err != nil {
			return r.failure(err)
		}
		return string(raw)
	}
	w, err := made.Watch(ctx)
	if err != nil {
		return r.failure(err)
	}
	var events []string
	for e := range w.ResultChan() {
		events = append(events, string(e.Type)+" "+nameOf(e))
	}
	return strings.Join(events, ", ")
}

// nameOf is what a watch's event is about.
func nameOf(e watch.Event) string {
	if status, ok := e.Object.(*metav1.Status); ok {
		return fmt.Sprint(status.Code)
	}
	return text(e.Object)
}

// failure describes an error: whose it is, and what it says of the attempts before.
func (r *requested) failure(err error) string {
	var is string
	message, before, _ := strings.Cut(err.Error(), " - error from a previous attempt: ")
	if strings.HasPrefix(message, "client rate limiter Wait returned an error: ") {
		is = "of the limiter: "
	}
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &status):
		s := status.Status()
		is += fmt.Sprint(s.Code)
		if d := s.Details; d != nil && len(d.Causes) == 1 {
			is += fmt.Sprintf(" of %s %s, which says %q, again in %d", d.Kind, d.Name, d.Causes[0].Message, d.RetryAfterSeconds)
		} else {
			is += " " + s.Message
		}
	case errors.Is(err, errLimit):
		is += errLimit.Error()
	case errors.Is(err, context.Canceled):
		is += "canceled"
	case errors.Is(err, io.ErrUnexpectedEOF):
		is += "broken off"
	default:
		for _, l := range losses {
			if errors.Is(err, l.error) {
				is += l.Error()
			}
		}
		if _, code, ok := strings.Cut(message, ", got status: "); ok {
			is += "status " + code
		}
	}
	if before != "" {
		is += ", after " + before
	}
	return is
}

// paths are those of requests: whatever is below the host stays, also if a path is given as a whole, and a timeout of the client is told to the server.
func (c *check) paths() {
	sent, group := &requests{}, schema.GroupVersion{Version: "v1"}
	config := &rest.Config{Host: "http://server/below", APIPath: "/api", QPS: -1, Timeout: time.Duration(c.IntN(2)) * time.Second, Transport: sent, ContentConfig: rest.ContentConfig{
		GroupVersion: &group, NegotiatedSerializer: serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion(),
	}}
	client, err := rest.RESTClientFor(config)
	if c.no("RESTClientFor", err); err != nil {
		return
	}
	timeout := map[bool]string{true: "timeout=1s"}[config.Timeout > 0]
	for _, path := range []struct {
		call, want string
		made       *rest.Request
	}{
		{"of a resource", "/below/api/v1/namespaces/ns1/pods/a", client.Get().Namespace("ns1").Resource("pods").Name("a")},
		{"with AbsPath", "/below/healthz", client.Get().AbsPath("/healthz")},
		{"with RequestURI", "/below/api/v1/pods", client.Get().Param("limit", "1").RequestURI("/api/v1/pods")},
		{"with RequestURI and parameters", "/below/api/v1/pods?watch=true", client.Get().Param("limit", "1").RequestURI("/api/v1/pods?watch=true")},
		{"with a parameter, and one of the same name among options", "/below/api/v1/pods?limit=1&limit=2", client.Get().Resource("pods").Param("limit", "1").VersionedParams(&metav1.ListOptions{Limit: 2}, metav1.ParameterCodec)},
	} {
		want := path.want
		if timeout != "" {
			want += map[bool]string{true: "&", false: "?"}[strings.Contains(want, "?")] + timeout
			want = strings.Replace(want, "?watch=true&timeout=1s", "?timeout=1s&watch=true", 1)
		}
		c.is("the URL of a request "+path.call, "http://server"+want, path.made.URL().String())
	}
	for _, nowhere := range []struct {
		call string
		made *rest.Request
	}{
		{"that creates in no namespace", client.Post().Namespace("").Resource("pods")},
		{"of a name in no namespace", client.Get().Namespace("").Resource("pods").Name("a")},
	} {
		c.refused("a request "+nowhere.call, nowhere.made.Do(silent).Error())
		c.is("whether a request "+nowhere.call+" is sent", false, sent.last != nil)
	}
	nameless := func() *rest.Request { return client.Get().Resource("pods").Name("") }
	_, raw := nameless().DoRaw(silent)
	_, streamed := nameless().Stream(silent)
	_, watched := nameless().Watch(silent)
	for n, err := range []error{nameless().Do(silent).Error(), raw, streamed, watched} {
		call := []string{"Do", "DoRaw", "Stream", "Watch"}[n] + " of an object without a name"
		c.refused(call, err)
		c.is("whether "+call+" is sent", false, errors.Is(err, errNoNetwork))
	}
	sent.last = nil
	err = client.Get().Resource("pods").Timeout(time.Minute).Do(silent).Error()
	c.is("whether a request without a network fails with it", true, errors.Is(err, errNoNetwork))
	if sent.last != nil {
		end, ends := sent.last.Context().Deadline()
		within := time.Minute
		if config.Timeout > 0 {
			within = config.Timeout
		}
		c.is("whether a request ends, and when", [2]any{true, within}, [2]any{ends, time.Until(end)})
		c.is("the timeout that a request tells the server", "timeout=1m0s", sent.last.URL.RawQuery)
	}
}
