package simtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// giveUpAfter is the virtual time for which a helper repeats a request that fails on the server's side. No fault of a mix lasts that
// long; a request that the server can never carry out (an object that is too large is a 500) would be repeated for ever.
const giveUpAfter = 10 * time.Minute

// retryWait is the virtual time before a failed request of a helper is repeated; it doubles up to maxRetryWait.
const (
	retryWait    = time.Second
	maxRetryWait = 30 * time.Second
)

// refusal is the server's answer to a write that it refused.
type refusal struct {
	code   int
	reason metav1.StatusReason
	text   string
}

func (r *refusal) Error() string {
	if r.reason == "" {
		return fmt.Sprintf("%d: %s", r.code, r.text)
	}
	return fmt.Sprintf("%d %s: %s", r.code, r.reason, r.text)
}

// refusalOf reads an answer.
func refusalOf(code int, answer []byte) *refusal {
	var st metav1.Status
	if json.Unmarshal(answer, &st) != nil || st.Message == "" {
		return &refusal{code: code, text: strings.TrimSpace(string(answer))}
	}
	return &refusal{code, st.Reason, st.Message}
}

// write is a write of a helper's.
type write struct {
	e           *Env
	helper      string // "env.Update"
	method, sub string
	r           *types.Resource
	obj         Object

	over bool   // over whatever is there: conflicts are repeated
	sent string // the resourceVersion that was sent
}

// write writes an object, and repeats that until it is in the Store, or the server refuses it.
func (e *Env) write(helper, method, sub string, obj Object) error {
	r, err := e.w.mapper.resourceOf(obj)
	if err != nil {
		return err
	}
	w := &write{e: e, helper: helper, method: method, sub: sub, r: r, obj: obj}
	w.over = method == http.MethodPut && obj.GetResourceVersion() == ""
	if err := w.play(); err != nil {
		return fmt.Errorf("%s %s: %w", r.Plural, strings.TrimPrefix(namespaceOf(r, obj)+"/"+obj.GetName(), "/"), err)
	}
	return nil
}

// apply creates an object or patches the one that is there. Another client may create or delete it in between.
func (e *Env) apply(u *unstructured.Unstructured) error {
	for {
		method, gone := http.MethodPost, metav1.StatusReasonAlreadyExists
		if e.Get(u.DeepCopy()) == nil {
			method, gone = http.MethodPatch, metav1.StatusReasonNotFound
		}
		err := e.write("env.Apply", method, "", u)
		if !isRefusal(err, gone) {
			return err
		}
	}
}

// play makes requests until one is answered for good. An answer may be lost after the write was committed, so whether it was is read
// in the Store, and only what was not is repeated: a second attempt would meet its own object, or delete another one.
func (w *write) play() error {
	world := w.e.w
	began := world.kernel.Elapsed()
	for wait := retryWait; ; {
		body, path, contentType, err := w.encode()
		if err != nil {
			return err
		}
		world.landing.forget()
		code, answer, err := w.e.request(w.helper, &rest.Request{
			Method: w.method, URL: &url.URL{Path: path}, Header: http.Header{"Content-Type": {contentType}, "Accept": {"application/json"}},
			Body: body, Client: workloadClient,
		})
		landed := world.landing.last
		failed := err != nil || code >= 500 || code == http.StatusTooManyRequests
		switch {
		case failed && landed != nil:
			return w.take(landed)
		case failed:
			if err == nil {
				err = refusalOf(code, answer)
			}
			if waited := world.kernel.Elapsed() - began; waited >= giveUpAfter {
				return fmt.Errorf("it has failed for %v; the last answer: %w", waited, err)
			}
			world.body.call(&call{name: w.helper, limit: wait, until: world.kernel.Clock().AtLimit})
			wait = min(2*wait, maxRetryWait)
		case code < 300:
			return w.answered(answer, landed)
		default:
			refused := refusalOf(code, answer)
			if !w.again(refused) {
				return w.explain(refused)
			}
		}
	}
}

// again reports whether a refused write is to be repeated: one over whatever is there, when another client has written since.
func (w *write) again(refused *refusal) bool {
	if !w.over || refused.reason != metav1.StatusReasonConflict {
		return false
	}
	live := w.obj.DeepCopyObject().(Object)
	return w.e.Get(live) != nil || live.GetResourceVersion() != w.sent
}

// explain adds what a user can do about a refusal.
func (w *write) explain(refused *refusal) error {
	if w.method == http.MethodPut && !w.over && refused.reason == metav1.StatusReasonConflict {
		return fmt.Errorf("%w\nThe object that was passed has resourceVersion %q, and another client has written since: change it with env.Mutate, "+
			"which reads it again, or clear its resourceVersion to write over whatever is there", refused, w.sent)
	}
	return refused
}

// answered handles a success: the answer must be what the Store has.
func (w *write) answered(answer []byte, landed *landedWrite) error {
	if w.method == http.MethodDelete {
		return nil
	}
	if err := replace(w.obj, answer); err != nil {
		return err
	}
	if rv := w.obj.GetResourceVersion(); landed != nil && rv != "" && rv != landed.resourceVersion() {
		return fmt.Errorf("the server answers with resourceVersion %s, but has committed %s; this is a bug in informersim", rv, landed.resourceVersion())
	}
	return nil
}

// take fills in the object from a commit whose answer was lost.
func (w *write) take(landed *landedWrite) error {
	if w.method == http.MethodDelete {
		return nil
	}
	live, err := w.r.Strategy.Convert(landed.obj)
	if err != nil {
		return err
	}
	return fill(w.obj, live)
}

// encode returns the request's body, path and content type.
func (w *write) encode() (body []byte, path, contentType string, err error) {
	r := w.r
	copied := w.obj.DeepCopyObject().(Object)
	copied.GetObjectKind().SetGroupVersionKind(r.GroupVersionKind())
	if ns := namespaceOf(r, w.obj); copied.GetNamespace() != ns {
		copied.SetNamespace(ns)
	}
	path = resourcePath(r, copied.GetNamespace())
	if w.method != http.MethodPost {
		path += "/" + copied.GetName()
	}
	if w.sub != "" {
		path += "/" + w.sub
	}
	contentType = "application/json"
	switch w.method {
	case http.MethodDelete:
		return []byte(`{"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":0}`), path, contentType, nil
	case http.MethodPost:
		copied.SetResourceVersion("")
		copied.SetUID("")
	case http.MethodPatch:
		contentType = "application/merge-patch+json"
	case http.MethodPut:
		if w.over {
			live := w.obj.DeepCopyObject().(Object)
			if err := w.e.Get(live); err != nil {
				return nil, "", "", fmt.Errorf("%w: %s replaces what exists; env.Create creates", err, w.helper)
			}
			copied.SetResourceVersion(live.GetResourceVersion())
		}
		w.sent = copied.GetResourceVersion()
	}
	body, err = json.Marshal(copied)
	return body, path, contentType, err
}

// isRefusal reports whether err is a refusal for that reason.
func isRefusal(err error, reason metav1.StatusReason) bool {
	var r *refusal
	return errors.As(err, &r) && r.reason == reason
}
