package rest

import (
	"context"
	"errors"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/informersim/informersim/fakeapiserver/patch"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// Admission asks webhooks about writes. A call takes time, and the webhook may send requests of its own, so it is made outside of the
// steps (Options.Beside). A write that webhooks are asked about is therefore computed up to three times: as far as the object that they may
// change, with what they have made of it, and once more when it reaches the replica, if the live object is no longer the same. It then begins
// anew, as on a real server that finds its update outrun.
type Admission interface {
	// Asks reports whether anybody may be asked about any write at all. It is cheap, and called inside a step.
	Asks() bool
	// Begin returns the review of a write, nil if nobody is to be asked about it. It is called inside a step.
	Begin(w AdmissionWrite) AdmissionReview
}

// AdmissionWrite is a write as webhooks learn of it.
type AdmissionWrite struct {
	Resource                     *types.Resource
	Subresource, Namespace, Name string
	// Operation is CREATE, UPDATE or DELETE.
	Operation string
	// Options are those of the request, with their kind.
	Options runtime.Object
	DryRun  bool
	User    user.Info
	// Client names the caller, as Request.Client does.
	Client string
}

// AdmissionReview asks about one write. Its methods are called outside of steps, and limit how long they take. obj is nil for a delete, old for a create.
//
// Where Options.Beside has to run work again, because an answer was not there yet, they are called again, with the same arguments.
type AdmissionReview interface {
	// Mutate changes obj in place.
	Mutate(ctx context.Context, obj, old *unstructured.Unstructured) (warnings []string, err error)
	Validate(ctx context.Context, obj, old *unstructured.Unstructured) (warnings []string, err error)
}

// errAsk stops the computation of a write at the object that webhooks may change.
var errAsk = errors.New("webhooks are to be asked first")

// admitting is a write, or a delete, on its way through admission.
type admitting struct {
	call   *call
	make   func() (*plan, error)
	ctx    context.Context
	undo   func() // cancels the stage that it is at
	gone   bool
	asked  *asked // what Mutate is to be asked, once the computation has come so far
	result *asked // what it has made of that
}

// asked is an object that webhooks may change, and the live one.
type asked struct{ obj, old runtime.Object }

// admitted carries out a plan that webhooks may be asked about; ok is false if nobody is.
func (c *call) admitted(make func() (*plan, error)) (cancel func(), ok bool) {
	if !c.server.asks() || c.target.subresource == types.Scale {
		return nil, false
	}
	ctx, stop := context.WithCancel(context.Background())
	a := &admitting{call: c, make: make, ctx: ctx, undo: func() {}}
	if !a.begin() {
		stop()
		return nil, false
	}
	return func() {
		a.gone = true
		stop()
		a.undo()
	}, true
}

// asks reports whether there is anybody to be asked about writes.
func (s *Server) asks() bool { return s.admission != nil && s.admission.Asks() }

// begin computes the plan as far as the object that webhooks may change, and asks them. It returns false if they need not be asked.
func (a *admitting) begin() bool {
	c := a.call
	p, err := a.make()
	if err != nil {
		return false
	}
	a.asked = nil
	live := p.live()
	request := c.writeRequest(live)
	request.Mutate = func(obj, old runtime.Object) (runtime.Object, error) {
		a.asked = &asked{obj: obj, old: old}
		return nil, errAsk
	}
	if _, err := a.compute(p, request, live); !errors.Is(err, errAsk) {
		return false // the write fails before anyone is asked, or has nothing to ask about
	}
	review := c.server.admission.Begin(a.describe(p))
	if review == nil {
		return false
	}
	obj, old, err := c.shown(a.asked.obj), c.shown(a.asked.old), error(nil)
	var warnings []string
	a.outside(func() {
		warnings, err = review.Mutate(a.ctx, obj, old)
	}, func() {
		c.warnings = append(c.warnings, warnings...)
		if err == nil {
			a.asked.obj, err = c.read(obj, a.asked.obj)
		}
		if err != nil {
			a.atReplica(func() { c.fail(err) })
			return
		}
		a.validate(p, review, live)
	})
	return true
}

// validate computes the plan with the object that the webhooks have changed, and asks those that may refuse it.
func (a *admitting) validate(p *plan, review AdmissionReview, live runtime.Object) {
	c := a.call
	if p.live() != live {
		a.again()
		return
	}
	request := c.writeRequest(live)
	changed := a.asked
	request.Mutate = func(runtime.Object, runtime.Object) (runtime.Object, error) { return changed.obj.DeepCopyObject(), nil }
	result, err := a.compute(p, request, live)
	early := &computed{live: live, result: result, err: err}
	if err != nil {
		a.commit(early)
		return
	}
	final := changed.obj
	if c.resource.KindOf(c.target.subresource) == c.resource.KindOf("") { // others have no more than what is asked
		if final = result.Object; final == nil {
			final = result.Answer // of a dry run
		}
		if final, err = c.resource.Strategy.Convert(final); err != nil {
			a.atReplica(func() { c.fail(err) })
			return
		}
	}
	obj, old := c.shown(final), c.shown(changed.old)
	var warnings []string
	a.outside(func() {
		warnings, err = review.Validate(a.ctx, obj, old)
	}, func() {
		c.warnings = append(c.warnings, warnings...)
		if err != nil {
			a.atReplica(func() { c.fail(err) })
			return
		}
		a.commit(early)
	})
}

// commit stores what has been computed, if the live object is still the one that it was computed from.
func (a *admitting) commit(early *computed) {
	c := a.call
	a.atReplica(func() {
		p, err := a.make()
		switch {
		case err != nil:
			c.fail(err)
		case p.live() != early.live:
			c.answer, c.answered = a.again, "computed again: the object has changed meanwhile"
		default:
			c.store(early.live, early.result, early.err, p.dry)
		}
	})
}

// again begins anew with the live object.
func (a *admitting) again() {
	c := a.call
	c.warnings = nil
	if !a.gone && !a.begin() {
		a.undo = c.atReplica(func() { c.carryOut(a.make, nil) })
	}
}

// compute computes a plan inside the step.
func (a *admitting) compute(p *plan, request patch.Request, live runtime.Object) (patch.Result, error) {
	return p.compute(a.call.server.writer, request, live)
}

// outside runs work beside the steps, and then goes on inside one, unless the client has gone away.
func (a *admitting) outside(work, then func()) {
	a.undo = func() {}
	a.call.server.beside(work, func() {
		if !a.gone {
			then()
		}
	})
}

func (a *admitting) atReplica(serve func()) { a.undo = a.call.atReplica(serve) }

// describe describes a plan to webhooks.
func (a *admitting) describe(p *plan) AdmissionWrite {
	c := a.call
	w := AdmissionWrite{
		Resource: c.resource, Subresource: c.target.subresource, Namespace: c.target.namespace, Name: c.target.name, Operation: "UPDATE",
		Options: p.options, DryRun: p.dry, User: c.request.User, Client: c.request.Client,
	}
	if a.asked.old == nil {
		w.Operation = "CREATE"
		if create, ok := w.Options.(*metav1.UpdateOptions); ok { // a PUT that creates
			w.Options = &metav1.CreateOptions{DryRun: create.DryRun, FieldManager: create.FieldManager, FieldValidation: create.FieldValidation}
		}
	}
	if m := accessor(a.asked.obj); w.Name == "" {
		w.Name = m.GetName()
	}
	if w.Options != nil {
		w.Options = withKind(w.Options)
	}
	return w
}

// withKind sets the kind of options, which clients leave out.
func withKind(o runtime.Object) runtime.Object {
	o = o.DeepCopyObject()
	o.GetObjectKind().SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind(reflect.TypeOf(o).Elem().Name()))
	return o
}

// shown returns an object as webhooks see it: as JSON in the request's version; nil for none.
func (c *call) shown(obj runtime.Object) *unstructured.Unstructured {
	switch obj := obj.(type) {
	case nil:
		return nil
	case *unstructured.Unstructured:
		return obj.DeepCopy()
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		panic(err) // it has been decoded, so it can be encoded
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(c.resource.KindOf(c.target.subresource))
	return u
}

// read returns what shown has made of an object like the given one, with defaults for what webhooks have added.
func (c *call) read(u *unstructured.Unstructured, like runtime.Object) (runtime.Object, error) {
	if _, ok := like.(*unstructured.Unstructured); ok {
		c.resource.Strategy.Default(u)
		return u, nil
	}
	obj, ok := reflect.New(reflect.TypeOf(like).Elem()).Interface().(runtime.Object)
	if !ok {
		return nil, errors.New("the object is of no kind")
	}
	kind := like.GetObjectKind().GroupVersionKind()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, obj); err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(kind)
	c.resource.Strategy.Default(obj)
	return obj, nil
}

// user returns whom the request is from, the zero value if nobody asked.
func (c *call) user() types.User {
	u := c.request.User
	if u == nil {
		return types.User{}
	}
	return types.User{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: u.GetExtra()}
}
