package rest

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/informersim/informersim/fakeapiserver/patch"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// The default limits, in bytes, of one write in etcd and of one message of its client (S35).
const (
	maxStored = 3 << 19
	maxSent   = 2 << 20
)

// tooLarge returns the error of a write that exceeds a limit.
func (c *call) tooLarge(obj runtime.Object) error {
	switch n := c.storedSize(obj); {
	case n > maxSent:
		return fmt.Errorf("rpc error: code = ResourceExhausted desc = trying to send message larger than max (%d vs. %d)", n, maxSent)
	case n > maxStored:
		return errors.New("etcdserver: request is too large")
	}
	return nil
}

// storedSize estimates an object's size in the store: Go types are stored as protobuf, custom resources as JSON.
func (c *call) storedSize(obj runtime.Object) int {
	switch obj := obj.(type) {
	case *unstructured.Unstructured:
		return sizeOf(obj.Object)
	case interface{ Size() int }:
		return obj.Size()
	}
	return len(c.request.Body)
}

// sizeOf estimates the size of a value as JSON: numbers count eight bytes, and escapes are ignored.
func sizeOf(v any) int {
	switch v := v.(type) {
	case map[string]any:
		n := 2
		for key, value := range v { // order: a sum
			n += len(key) + 4 + sizeOf(value)
		}
		return n
	case []any:
		n := 2
		for _, value := range v {
			n += 1 + sizeOf(value)
		}
		return n
	case string:
		return len(v) + 2
	}
	return 8
}

// body returns the request's body with its content type.
func (c *call) body() types.Body {
	return types.Body{Data: c.request.Body, ContentType: c.request.Header.Get("Content-Type")}
}

// options reads the options of a write from the query.
func options(q url.Values, into runtime.Object) error {
	if err := scheme.ParameterCodec.DecodeParameters(q, schema.GroupVersion{Version: "v1"}, into); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// writeRequest returns the patch.Request of this call.
func (c *call) writeRequest(live runtime.Object) patch.Request {
	uid, suffix := c.server.cluster.Store().Mint(types.SuffixAlphabet, types.SuffixLength)
	return patch.Request{
		Resource: c.resource, Subresource: c.target.subresource, Namespace: c.target.namespace, Name: c.target.name, Admit: c.admit,
		CreateRefused: c.createRefusal(live), UserAgent: c.request.Header.Get("User-Agent"), User: c.user(),
		List: c.server.list, Get: c.server.get,
		System:    types.System{UID: uid, Now: c.server.now(), Suffix: suffix},
		Persisted: c.server.persisted(c.id, live),
	}
}

// plan is a write whose query has been read. compute is a pure function.
type plan struct {
	live    func() runtime.Object
	compute func(w *patch.Writer, request patch.Request, live runtime.Object) (patch.Result, error)
	dry     bool
	options runtime.Object
}

// computed is the result of a plan for the object that was live then.
type computed struct {
	live     runtime.Object
	result   patch.Result
	err      error
	panicked any
}

// carryOut makes a plan and stores its result, which may have been computed before: early, or nil.
func (c *call) carryOut(make func() (*plan, error), early *computed) {
	p, err := make()
	if err != nil {
		c.fail(err)
		return
	}
	live := p.live()
	if early == nil || early.live != live {
		early = c.computeNow(p, live)
	}
	for n := 1; n < nameAttempts && c.nameTaken(early); n++ {
		early = c.computeNow(p, live)
	}
	if early.panicked != nil {
		panic(early.panicked) // like any other, inside the step
	}
	c.store(live, early.result, early.err, p.dry)
}

func (c *call) computeNow(p *plan, live runtime.Object) *computed {
	now := &computed{live: live}
	now.result, now.err = p.compute(c.server.writer, c.writeRequest(live), live)
	return now
}

// nameAttempts is how many generated names are tried until one is free, as in k8s.io/apiserver's registry.Store (S36).
const nameAttempts = 8

// nameTaken reports whether a new object has a generated name that another one has.
func (c *call) nameTaken(of *computed) bool {
	if of.panicked != nil || of.err != nil || !of.result.Created || types.WithoutMeta(of.result.Object) {
		return false
	}
	m := accessor(of.result.Object)
	return m.GetGenerateName() != "" && c.server.live(c.id, m.GetNamespace(), m.GetName()) != nil
}

func (c *call) create(q url.Values) (*plan, error) {
	var o metav1.CreateOptions
	if err := options(q, &o); err != nil {
		return nil, err
	}
	return &plan{func() runtime.Object { return nil }, func(w *patch.Writer, request patch.Request, _ runtime.Object) (patch.Result, error) {
		request.Name = "" // a POST to a named path takes the name from the body (S22)
		return w.Create(request, c.body(), &o)
	}, len(o.DryRun) > 0, &o}, nil
}

func (c *call) update(q url.Values) (*plan, error) {
	if c.target.name == "" {
		return nil, apierrors.NewBadRequest("name must be provided") // S22
	}
	var o metav1.UpdateOptions
	if err := options(q, &o); err != nil {
		return nil, err
	}
	return &plan{c.live, func(w *patch.Writer, request patch.Request, live runtime.Object) (patch.Result, error) {
		return w.Update(request, live, c.body(), &o)
	}, len(o.DryRun) > 0, &o}, nil
}

func (c *call) patch(q url.Values) (*plan, error) {
	media := c.request.Header.Get("Content-Type")
	if _, err := patch.PatchType(c.resource, c.target.subresource, media); err != nil {
		return nil, err
	}
	if c.target.name == "" {
		return nil, apierrors.NewBadRequest("name must be provided") // S22
	}
	var o metav1.PatchOptions
	if err := options(q, &o); err != nil {
		return nil, err
	}
	return &plan{c.live, func(w *patch.Writer, request patch.Request, live runtime.Object) (patch.Result, error) {
		return w.Patch(request, live, media, c.request.Body, &o)
	}, len(o.DryRun) > 0, &o}, nil
}

// live returns the newest state of the target, nil if there is none.
func (c *call) live() runtime.Object {
	return c.server.live(c.id, c.target.namespace, c.target.name)
}

// store commits the result of a write, and answers.
func (c *call) store(live runtime.Object, result patch.Result, err error, dry bool) {
	c.warnings = append(c.warnings, result.Warnings...) // an error answer has them too (S30)
	if err != nil {
		c.fail(err)
		return
	}
	if err := c.charge(live, &result, dry); err != nil {
		c.fail(err)
		return
	}
	if result.Object != nil && !result.Unchanged && !dry {
		if err := c.tooLarge(result.Object); err != nil {
			c.fail(err)
			return
		}
	}
	if !dry {
		if err := c.effects(result.Effects, false); err != nil {
			c.fail(err)
			return
		}
	}
	code, stored := http.StatusOK, result.Object
	switch {
	case result.Answer != nil && (result.Object == nil || dry):
		if stored, err = c.answerOnly(result, live); c.verb == verbCreate || live == nil {
			code = http.StatusCreated
		}
	case result.Created:
		code = http.StatusCreated
		if stored, err = c.storeNew(result.Object, dry); err == nil && !dry {
			c.server.setPersisted(c.id, stored, result.Persisted)
		}
	case result.Unchanged:
		stored = live
	case dry:
	case result.Delete:
		// Watchers see the object with its last finalizer, the answer shows it without (S18).
		_, err = c.server.cluster.Delete(c.id, c.target.namespace, c.target.name, nil)
	default:
		if stored, err = c.server.cluster.Update(c.id, result.Object); err == nil {
			c.server.setPersisted(c.id, stored, result.Persisted)
		}
	}
	if err == nil && !dry {
		err = c.effects(result.Effects, true)
	} else if !dry {
		c.undo(result.Effects)
	}
	if err != nil {
		c.fail(err)
		return
	}
	if !dry {
		c.written = stored
	}
	if result.Answer != nil && result.Object != nil {
		stored = result.Answer
	}
	if c.target.subresource == types.Scale && result.Answer == nil {
		if stored, err = c.scaleOf(stored); err != nil {
			c.fail(err)
			return
		}
	}
	c.answerObject(code, stored)
}

// answerOnly returns the answer of a write that stores nothing: a dry run, a review, or an update with which the object goes away.
func (c *call) answerOnly(result patch.Result, live runtime.Object) (runtime.Object, error) {
	if result.Delete {
		_, err := c.server.cluster.Delete(c.id, c.target.namespace, c.target.name, nil)
		return result.Answer, err
	}
	if live == nil && c.resource.Allows("get", "") {
		return c.storeNew(result.Answer, true)
	}
	return result.Answer, nil
}

func (c *call) storeNew(obj runtime.Object, dry bool) (runtime.Object, error) {
	if types.WithoutMeta(obj) {
		return obj, nil // a review is answered, never stored
	}
	m := accessor(obj)
	if live := c.server.live(c.id, m.GetNamespace(), m.GetName()); live != nil {
		exists := apierrors.NewAlreadyExists(c.resource.GroupResource(), m.GetName())
		if accessor(live).GetDeletionTimestamp() != nil {
			exists.ErrStatus.Message = "object is being deleted: " + exists.ErrStatus.Message // S24
		}
		return nil, exists
	}
	if dry {
		return obj, nil
	}
	return c.server.cluster.Create(c.id, obj)
}
