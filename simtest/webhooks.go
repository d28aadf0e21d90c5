package simtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/klog/v2"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// Webhooks are the webhooks of a run's cluster. Those of admission are called without a socket: the handler runs in the bubble, and each call is an
// event of its own, which the seed may delay and which faults may hit. Rules, selectors, match conditions, failure policies, timeouts and
// reinvocation are those of a real apiserver, whose code decides them.
//
// While a call is under way, its write waits, and all else goes on. The names of services and the CA bundles in configurations do not matter: the
// path of a call chooses the handler.
//
// The handler also answers the conversion webhooks of CustomResourceDefinitions (Options.CRDs). A conversion is part of the step that reads or
// writes another version than the stored one, so it must need nothing but the object: one that waits for anything is given up. The checks of its answer
// are a real apiserver's. The faults of webhooks hit it, too.
type Webhooks struct {
	// Configurations are manifests with MutatingWebhookConfigurations and ValidatingWebhookConfigurations: YAML or JSON text, or the name of a file
	// or folder that holds them, such as config/webhook. Other objects there are left out. They are created before the body begins.
	Configurations []string
	// Objects are further configurations, as *MutatingWebhookConfiguration and *ValidatingWebhookConfiguration of admissionregistration.k8s.io/v1.
	Objects []runtime.Object
	// Handler answers the calls of all seeds' runs, by the path of their URL. A program that serves its webhooks itself, and not while it is
	// down, calls Env.ServeWebhooks instead.
	Handler http.Handler
}

// enabled reports whether there are any.
func (h *Webhooks) enabled() bool {
	return len(h.Configurations)+len(h.Objects) > 0 || h.Handler != nil
}

// objects returns the configurations.
func (h *Webhooks) objects() (all []Object, err error) {
	manifests, err := readManifests(h.Configurations)
	if err != nil {
		return nil, err
	}
	for _, m := range manifests {
		found, err := configurationsIn(m)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(h.Configurations) > 0 && len(all) == 0 {
		return nil, fmt.Errorf("there is no webhook configuration in %s", strings.Join(h.Configurations, ", "))
	}
	for _, o := range h.Objects {
		switch o := o.(type) {
		case *admissionregistrationv1.MutatingWebhookConfiguration:
			all = append(all, o.DeepCopy())
		case *admissionregistrationv1.ValidatingWebhookConfiguration:
			all = append(all, o.DeepCopy())
		default:
			return nil, fmt.Errorf("%T is no webhook configuration of admissionregistration.k8s.io/v1", o)
		}
	}
	return all, nil
}

// configurationsIn returns the webhook configurations of a manifest, whatever else is in it.
func configurationsIn(manifest string) ([]Object, error) {
	return objectsIn(manifest, admissionregistrationv1.GroupName, "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
}

// objectsIn returns the objects of a manifest that are of some kinds of a group, whatever else is in it.
func objectsIn(manifest, group string, kinds ...string) (all []Object, err error) {
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), 4096)
	for n := 1; ; n++ {
		var content map[string]any
		switch err := decoder.Decode(&content); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("document %d is neither YAML nor JSON: %w", n, err)
		}
		u := &unstructured.Unstructured{Object: content}
		switch gvk := u.GroupVersionKind(); {
		case gvk.Group != group || !slices.Contains(kinds, gvk.Kind):
		case gvk.Version != "v1":
			return nil, fmt.Errorf("document %d: %s: only v1 is served", n, gvk)
		default:
			all = append(all, u)
		}
	}
}

// ServeWebhooks has a handler answer the calls of webhooks from now on, by the path of their URL: a mux, for instance that of controller-runtime's
// webhook server. If a process of that name is running, the handler lives with it: once the process has crashed or ended, calls are refused, until
// somebody serves again. Options.Webhooks says which webhooks of admission there are, the definitions of Options.CRDs which of conversion.
func (e *Env) ServeWebhooks(name string, handler http.Handler) {
	e.alive()
	if handler == nil {
		panic("simtest: env.ServeWebhooks needs a handler")
	}
	e.w.hooks.mu.Lock()
	defer e.w.hooks.mu.Unlock()
	e.w.hooks.handler, e.w.hooks.life = handler, e.w.lifeOf(name)
}

// configureWebhooks creates the configurations of the options.
func (e *Env) configureWebhooks() {
	if len(e.w.r.hooks) > 0 {
		e.writeAll("Options.Webhooks", wire.Write{OrCreate: true}, e.w.r.hooks)
	}
}

// hooks has the calls of webhooks in one run.
type hooks struct {
	w *world

	mu      sync.Mutex
	handler http.Handler
	life    *life // the handler's
	hangUps map[int64]context.CancelFunc
	hint    sync.Once // that nobody serves
	queried sync.Map  // the goroutines of handlers that env.Get or env.List waits for
}

// call has the handler answer a call, on a goroutine of its own.
func (h *hooks) call(m *wire.Message) {
	id, url, header, body := m.Num(), m.Text(), m.Header(), m.Bytes()
	if m.Err() != nil {
		return
	}
	h.mu.Lock()
	handler, l := h.handler, h.life
	h.mu.Unlock()
	if handler == nil || l != nil && l.err() != nil {
		h.answer(id, nil, wire.Refused)
		return
	}
	lives := h.w.ctx
	if l != nil {
		lives = l.ctx
	}
	ctx, cancel := context.WithCancel(lives)
	h.mu.Lock()
	h.hangUps[id] = cancel
	h.mu.Unlock()
	r, err := hookRequest(ctx, url, header, body)
	if err != nil {
		m.Broken(err)
		return
	}
	rw := &hookWriter{header: http.Header{}}
	stop := context.AfterFunc(lives, func() { h.answer(id, nil, io.ErrUnexpectedEOF) })
	go h.w.protected(func() error { handler.ServeHTTP(rw, r); return nil }, func(_ error, panicked string) {
		h.hangUp(id)
		stop()
		switch {
		case panicked != "": // net/http recovers, logs it and breaks the connection
			err = h.broken(panicked)
		case lives.Err() != nil: // it has been answered
			return
		}
		h.answer(id, rw, err)
	})
}

// hookRequest is the request of a call as a handler gets it.
func hookRequest(ctx context.Context, url string, header http.Header, body []byte) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err == nil {
		r.Header, r.RequestURI, r.RemoteAddr = header, r.URL.RequestURI(), "10.0.0.1:1"
	}
	return r, err
}

// broken logs a handler's panic, and returns what its caller sees of it. Stacks have addresses, which no seed decides, so the trace has only the
// panic itself.
func (h *hooks) broken(panicked string) error {
	klog.Errorf("http: panic serving a webhook: %s", panicked)
	text, _, _ := strings.Cut(panicked, "\n")
	h.w.event(func(p *wire.Packet) { p.Byte(wire.EventLog).Text("http: panic serving a webhook: " + text) })
	return io.ErrUnexpectedEOF
}

// hangUp ends a call's context.
func (h *hooks) hangUp(id int64) {
	h.mu.Lock()
	cancel := h.hangUps[id]
	delete(h.hangUps, id)
	h.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// answer tells the engine.
func (h *hooks) answer(id int64, rw *hookWriter, err error) {
	if rw == nil {
		rw = &hookWriter{}
	}
	h.w.event(func(p *wire.Packet) { rw.add(p.Byte(wire.EventCalled).Num(id).Error(err)) })
}

// hookWriter is an http.ResponseWriter that keeps what it gets.
type hookWriter struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (w *hookWriter) Header() http.Header { return w.header }

func (w *hookWriter) WriteHeader(code int) {
	if w.code == 0 {
		w.code = code
	}
}

func (w *hookWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// add adds the answer to a message.
func (w *hookWriter) add(p *wire.Packet) *wire.Packet {
	return p.Num(int64(w.statusOr200())).Header(w.header).Bytes(w.body.Bytes())
}

func (w *hookWriter) statusOr200() int {
	if w.code == 0 {
		return http.StatusOK
	}
	return w.code
}
