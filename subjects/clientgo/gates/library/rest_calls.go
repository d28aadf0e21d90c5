package library

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/retry"
	clocktesting "k8s.io/utils/clock/testing"
)

// answering is a server with one answer, which notes what it was asked last.
type answering struct {
	code       int
	kind, body string
	last       *http.Request
	sent       string
}

// RoundTrip implements http.RoundTripper.
func (s *answering) RoundTrip(r *http.Request) (*http.Response, error) {
	s.last, s.sent = r, "nothing"
	if r.Body != nil {
		sent, err := io.ReadAll(r.Body)
		if err := errors.Join(err, r.Body.Close()); err != nil {
			return nil, err
		}
		s.sent = string(sent)
	}
	header := http.Header{"Content-Type": {s.kind}, "Warning": {`299 - "old"`}}
	return &http.Response{StatusCode: s.code, Header: header, Body: io.NopCloser(strings.NewReader(s.body)), Request: r, ContentLength: -1}, nil
}

// restCalls make requests of what REST clients offer, by functions that are called one after the other, and read what comes of them.
func (c *check) restCalls() {
	const pod = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"1"}}`
	from := &answering{code: http.StatusOK, kind: "application/json", body: pod}
	scheme, group := runtime.NewScheme(), schema.GroupVersion{Version: "v1"}
	scheme.AddKnownTypeWithName(group.WithKind("Pod"), &metav1.PartialObjectMetadata{})
	metav1.AddToGroupVersion(scheme, group)
	client, err := rest.RESTClientFor(&rest.Config{Host: "http://server/below", APIPath: "/api", QPS: -1, Transport: from, WarningHandler: rest.NoWarnings{}, ContentConfig: rest.ContentConfig{
		GroupVersion: &group, NegotiatedSerializer: serializer.NewCodecFactory(scheme).WithoutConversion(),
	}})
	if c.no("RESTClientFor", err); err != nil {
		return
	}
	c.callPaths(client)
	c.callRefusals(client)
	c.callBodies(client, from)
	for _, of := range []struct {
		code       int
		kind, body string
		into       bool // the answer is an object
		known      bool // its type is one that the client can read, or it is no error
	}{
		{http.StatusOK, "application/json", pod, true, true}, {http.StatusCreated, "application/json", pod, true, true}, {http.StatusConflict, "application/json", statusJSON(409), false, true},
		{http.StatusOK, "application/json", "", false, true}, {http.StatusOK, "application/odd", "odd", false, true}, {http.StatusNotFound, "application/odd", "odd", false, false},
	} {
		from.code, from.kind, from.body = of.code, of.kind, of.body
		code, created, kind := 0, false, ""
		result := client.Get().Resource("pods").Name("a").Do(silent).StatusCode(&code).WasCreated(&created).ContentType(&kind)
		raw, err := result.Raw()
		which := fmt.Sprintf(" of an answer %d with %q of type %s", of.code, of.body, of.kind)
		c.is("whether Raw"+which+" has an error", of.code >= 400, err != nil)
		c.is("whether there is an object"+which, of.into, result.Into(&metav1.PartialObjectMetadata{}) == nil)
		if of.known {
			c.is("the code, whether something was created, and the type"+which, [3]any{of.code, of.code == http.StatusCreated, of.kind}, [3]any{code, created, kind})
			c.is("Raw"+which, of.body, string(raw))
			c.is("how many warnings there are"+which, 1, len(result.Warnings()))
		}
	}
}

// callPaths compares the paths of requests with what they are made of.
func (c *check) callPaths(client *rest.RESTClient) {
	for _, of := range []struct {
		want string
		made func(*rest.Request) *rest.Request
	}{
		{"/api/v1/pods/a/x/y/z", func(r *rest.Request) *rest.Request { return r.Resource("pods").Name("a").Suffix("x").Suffix("y", "z") }},
		{"/api/v1/pods/a/proxy/p/x", func(r *rest.Request) *rest.Request {
			return r.Suffix("x").SubResource("proxy", "p").Name("a").Resource("pods")
		}},
		{"/api/v1/x/y/pods", func(r *rest.Request) *rest.Request { return r.Prefix("x").Prefix("y").Resource("Pods") }},
		{"/api/v1/namespaces/ns1/pods", func(r *rest.Request) *rest.Request { return r.NamespaceIfScoped("ns1", true).Resource("pods") }},
		{"/api/v1/pods", func(r *rest.Request) *rest.Request { return r.NamespaceIfScoped("ns1", false).Resource("pods") }},
		{"/healthz/", func(r *rest.Request) *rest.Request { return r.AbsPath("/healthz/") }},
		{"/healthz", func(r *rest.Request) *rest.Request { return r.AbsPath("/", "healthz") }},
	} {
		c.is("the URL of a request that is made in parts", "http://server/below"+of.want, of.made(client.Get()).URL().String())
	}
}

// callRefusals are requests that cannot be: they say so, whatever else they are given.
func (c *check) callRefusals(client *rest.RESTClient) {
	for what, made := range byName(map[string]*rest.Request{
		"with two resources": client.Get().Resource("pods").Resource("services"), "with two names": client.Get().Name("a").Name("b"), "with two namespaces": client.Get().Namespace("a").Namespace("b"),
		"with two subresources": client.Get().SubResource("a").SubResource("b"), "with a slash in its name": client.Get().Name("a/b"), "with a slash in its namespace": client.Get().Namespace("a/b"),
		"with a slash in its subresource": client.Get().SubResource("a", "b/c"), "with a body that is a number": client.Post().Body(1), "without a name": client.Get().Name("").Param("a", "b"),
	}) {
		c.refused("a request "+what, made.Error())
	}
	for name, want := range byName(map[string][2]bool{"..": {false, true}, ".": {false, true}, "a/b": {false, false}, "a%": {false, false}, "a.b": {true, true}}) {
		c.is("whether "+name+" is a name of a path, or the beginning of one", want, [2]bool{len(rest.ValidatePathSegmentName(name, false)) == 0, len(rest.ValidatePathSegmentName(name, true)) == 0})
	}
}

// callBodies sends bodies and headers, of which the last that is set counts.
func (c *check) callBodies(client *rest.RESTClient, to *answering) {
	var none *metav1.PartialObjectMetadata
	for what, of := range byName(map[string]struct {
		made       *rest.Request
		kind, want string
	}{
		"a reader after some bytes":   {client.Post().Body([]byte("bytes")).Body(io.MultiReader(strings.NewReader("reader"))), "", "reader"},
		"some bytes after a reader":   {client.Post().Body(io.MultiReader(strings.NewReader("reader"))).Body([]byte("bytes")), "", "bytes"},
		"an object that there is not": {client.Post().Body(none), "", "nothing"},
		"an object":                   {client.Post().Body(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "a"}}), "application/json", `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}` + "\n"},
	}) {
		c.no("a request with "+what, of.made.Resource("pods").SetHeader("Own", "a", "b").SetHeader("Own", "c", "d").Do(silent).Error())
		c.is("what is sent of "+what, of.want, to.sent)
		c.is("the type of "+what, of.kind, to.last.Header.Get("Content-Type"))
		c.is("a header that is set twice", []string{"c", "d"}, to.last.Header.Values("Own"))
	}
	waits := &restServer{}
	c.no("a request", client.Get().Resource("pods").BackOffWithContext(waits).BackOff(nil).Do(silent).Error())
	c.is("what a backoff is told of a request that is to have none", []string(nil), waits.seen)
}

// plainLimits are a REST client's limiters and backoffs by the functions that give them no clock, and what retries wait for by default.
func (c *check) plainLimits() {
	const initial, longest = time.Second, 3 * time.Second
	b, jitters, early := flowcontrol.NewBackOff(initial, longest), flowcontrol.NewBackOffWithJitter(initial, longest, 0.5), 0
	for n, want := range []time.Duration{initial, 2 * initial, longest} {
		b.Next("a", time.Now())
		c.is(fmt.Sprintf("Get of a Backoff after %d failures", n+1), want, b.Get("a"))
		key := fmt.Sprint("k", n)
		jitters.Next(key, time.Now())
		got := jitters.Get(key)
		c.is("whether Get of a Backoff with jitter is no more than it should be after a failure", true, got >= initial && got <= initial+initial/2)
		if got == initial {
			early++
		}
	}
	c.is("whether a Backoff with jitter has none for each of three keys that have failed once", false, early == 3)
	now := clocktesting.NewFakeClock(time.Unix(1000, 0))
	for name, l := range byName(map[string]flowcontrol.PassiveRateLimiter{
		"NewTokenBucketRateLimiter": flowcontrol.NewTokenBucketRateLimiter(2, 3), "NewTokenBucketPassiveRateLimiter": flowcontrol.NewTokenBucketPassiveRateLimiter(2, 3),
		"NewTokenBucketPassiveRateLimiterWithClock": flowcontrol.NewTokenBucketPassiveRateLimiterWithClock(2, 3, now),
	}) {
		got := [4]bool{}
		for n := range got {
			got[n] = l.TryAccept()
		}
		c.is("TryAccept of "+name+" with three tokens", [4]bool{true, true, true, false}, got)
		c.is("QPS of "+name, float32(2), l.QPS())
		if strings.HasSuffix(name, "Clock") {
			now.Step(time.Second / 2)
			c.is("TryAccept of "+name+" when its clock brings a token", true, l.TryAccept())
		}
	}
	c.is("TryAccept of a limiter that has no tokens at all", false, flowcontrol.NewTokenBucketPassiveRateLimiter(2, 0).TryAccept())
	c.is("how often a conflict is tried by default", wait.Backoff{Steps: 5, Duration: 10 * time.Millisecond, Factor: 1, Jitter: 0.1}, retry.DefaultRetry)
	c.is("how often a conflict is tried if others write much", wait.Backoff{Steps: 4, Duration: 10 * time.Millisecond, Factor: 5, Jitter: 0.1}, retry.DefaultBackoff)
}
