package apiextensions_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/fakeapiserver/rest"
)

// held is work outside of steps that waits until the test lets it run.
type held struct {
	w    *world
	jobs []func()
}

func (h *held) run(work, then func()) {
	h.jobs = append(h.jobs, func() {
		work()
		h.w.Do(then)
	})
}

// next runs the work that has waited longest.
func (h *held) next() {
	h.w.t.Helper()
	if len(h.jobs) == 0 {
		h.w.t.Fatal("no work waits")
	}
	first := h.jobs[0]
	h.jobs = h.jobs[1:]
	first()
}

func (h *held) all() {
	for len(h.jobs) > 0 {
		h.next()
	}
}

// newHeldWorld is newWorld, with work outside of steps.
func newHeldWorld(t *testing.T) (*world, *held) {
	t.Helper()
	h := &held{}
	h.w = newWorldWith(t, h.run)
	return h.w, h
}

// answered is what became of a request so far.
type answered struct {
	code   int
	body   string
	failed error
	cancel func()
}

func (a *answered) Answer(code int, _ http.Header, body rest.Body) {
	a.code = code
	var b strings.Builder
	_, _ = io.Copy(&b, body.NewReader()) // a Builder takes everything
	a.body = b.String()
}
func (a *answered) Open(int, http.Header) {}
func (a *answered) Frame([]byte)          {}
func (a *answered) Close(error)           {}
func (a *answered) Fail(err error)        { a.failed = err }

// start makes a request that need not be answered at once.
func (w *world) start(method, path, body string) *answered {
	w.t.Helper()
	url, err := url.Parse(path)
	if err != nil {
		w.t.Fatal(err)
	}
	r := &rest.Request{Method: method, URL: url, Header: http.Header{}, Body: []byte(body), Client: "http"}
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	a := &answered{}
	w.Do(func() { a.cancel = w.api.Serve(r, a) })
	return a
}

// slow is a spec that is slow to compile, by its size.
var slow = `{"type":"object","description":"` + strings.Repeat("x", 20_000) + `","properties":{"size":{"type":"integer"}}}`

// While a definition is being compiled, others are served; each piece of the work runs outside of a step.
func TestOthersGoOnWhileADefinitionIsCompiled(t *testing.T) {
	w, h := newHeldWorld(t)
	w.want(201, "", "POST", definitionsPath, definition("smalls", "Small", anySize)) // what is quick does not wait
	created := w.start("POST", definitionsPath, definition("gadgets", "Gadget", slow))
	if len(h.jobs) != 1 {
		t.Fatalf("%d pieces of work wait after the request, want its own", len(h.jobs))
	}
	steps := 0
	for ; len(h.jobs) > 0; steps++ {
		w.want(200, `"SmallList"`, "GET", "/apis/x.dev/v1/smalls", "")
		w.want(201, `"name":"`, "POST", "/apis/x.dev/v1/smalls", `{"apiVersion":"x.dev/v1","kind":"Small","metadata":{"generateName":"s-"}}`)
		if code, _ := w.ask("GET", "/apis/x.dev/v1/gadgets", ""); code != 404 && steps < 2 {
			t.Errorf("gadgets are served after %d pieces of work: %d", steps, code)
		}
		h.next()
	}
	if steps < 4 { // the request, the names, the schema, the condition
		t.Errorf("%d pieces of work ran outside of steps, want at least 4", steps)
	}
	if got := created; got.code != 201 || !strings.Contains(got.body, `"gadgets.x.dev"`) {
		t.Errorf("the definition is answered with %+v", got)
	}
	w.want(201, `"size":3`, "POST", "/apis/x.dev/v1/gadgets", `{"apiVersion":"x.dev/v1","kind":"Gadget","metadata":{"name":"a"},"spec":{"size":3}}`)
	w.want(422, "must be of type integer", "POST", "/apis/x.dev/v1/gadgets", `{"apiVersion":"x.dev/v1","kind":"Gadget","metadata":{"name":"b"},"spec":{"size":"x"}}`)
}

// What is computed outside of steps is what a step would have computed.
func TestBackgroundComputesTheSame(t *testing.T) {
	inside := newWorld(t)
	outside, h := newHeldWorld(t)
	bodies := []string{definition("gadgets", "Gadget", slow), definition("gadgets", "Gadget", slow), `{"kind":` + slow, definition("worse", "Worse", strings.Replace(slow, "integer", "no", 1))}
	for _, body := range bodies {
		code, want := inside.ask("POST", definitionsPath, body)
		done := outside.start("POST", definitionsPath, body)
		h.all()
		if got := done; got.code != code || got.body != want {
			t.Errorf("a step answers %d %s\noutside of it %+v", code, want, got)
		}
	}
	for _, path := range []string{definitionsPath, "/apis/x.dev/v1", "/apis"} {
		if want, got := inside.want(200, "", "GET", path, ""), outside.want(200, "", "GET", path, ""); got != want {
			t.Errorf("%s is\n%s\nwant\n%s", path, got, want)
		}
	}
	for _, path := range []string{"/openapi/v3", "/openapi/v3/apis/x.dev/v1", "/openapi/v2"} {
		want := inside.want(200, "", "GET", path, "")
		done := outside.start("GET", path, "")
		h.all()
		if got := done; got.body != want {
			t.Errorf("%s is\n%s\nwant\n%s", path, got.body, want)
		}
		if got := outside.want(200, "", "GET", path, ""); got != want || len(h.jobs) > 0 { // made once
			t.Errorf("%s again: %d pieces of work, %t", path, len(h.jobs), got == want)
		}
	}
}

// A result that was computed from an object that has changed meanwhile does not count.
func TestBackgroundResultOfAnOldObject(t *testing.T) {
	w, h := newHeldWorld(t)
	w.start("POST", definitionsPath, definition("gadgets", "Gadget", slow))
	h.all()
	path := definitionsPath + "/gadgets.x.dev"
	first := w.start("PATCH", path, `{"metadata":{"labels":{"a":"1"}}}`)
	second := w.start("PATCH", path, `{"metadata":{"labels":{"b":"2"}}}`)
	h.all()
	for _, done := range []*answered{first, second} {
		if got := done; got.code != 200 {
			t.Errorf("a patch is answered with %+v", got)
		}
	}
	w.want(200, `"labels":{"a":"1","b":"2"}`, "GET", path, "")

	// Deleted while its status is computed, it stays deleted.
	w.start("POST", definitionsPath, definition("others", "Other", slow))
	h.next()
	w.want(200, "", "DELETE", definitionsPath+"/others.x.dev", "")
	for range 100 {
		h.all()
		w.advance(time.Second)
	}
	w.want(404, "not found", "GET", definitionsPath+"/others.x.dev", "")
	w.want(404, "", "GET", "/apis/x.dev/v1/others", "")
}

// A client that goes away while its write is computed has written nothing.
func TestBackgroundOfAClientThatIsGone(t *testing.T) {
	w, h := newHeldWorld(t)
	a := w.start("POST", definitionsPath, definition("gadgets", "Gadget", slow))
	w.Do(a.cancel)
	h.all()
	if a.code != 0 {
		t.Errorf("it is answered with %+v", a)
	}
	w.want(404, "not found", "GET", definitionsPath+"/gadgets.x.dev", "")
}
