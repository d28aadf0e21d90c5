package builtin

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/apis/authentication"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// generate returns a name that begins with base. The strategies of some kinds add nothing to it: their names mean something.
func (k *kind) generate(base string, w *types.Write) string {
	store, ok := k.storages[w.Subresource].(interface {
		GetCreateStrategy() rest.RESTCreateStrategy
	})
	if ok && store.GetCreateStrategy().GenerateName(base) == base {
		return base
	}
	return types.GenerateName(base, w.System.Suffix)
}

// Create implements types.Storage.
func (k *kind) Create(w *types.Write, obj runtime.Object) (types.Outcome, error) {
	s := newSession(k, w)
	if m, err := meta.Accessor(obj); err == nil {
		s.object = m
		if m.GetGenerateName() != "" && m.GetName() == "" {
			m.SetName(k.generate(m.GetGenerateName(), w))
		}
	}
	s.claims = claimVolumes(obj)
	return s.run(func() (runtime.Object, error) {
		hub, err := internal(obj)
		if err != nil {
			return nil, err
		}
		ctx, o := s.context("create"), &metav1.CreateOptions{DryRun: dryRun(w)}
		if err := s.admit(ctx, admission.Create, hub, nil, o); err != nil {
			return nil, err
		}
		validate := s.validateCreate(ctx, o)
		switch st := k.storages[w.Subresource].(type) {
		case rest.NamedCreater:
			return st.Create(ctx, w.Name, hub, validate, o)
		case rest.Creater:
			return st.Create(ctx, hub, validate, o)
		}
		return nil, apierrors.NewMethodNotSupported(k.resource.GroupResource(), "create")
	})
}

// Update implements types.Storage.
func (k *kind) Update(w *types.Write, change func(runtime.Object) (runtime.Object, error)) (types.Outcome, error) {
	s := newSession(k, w)
	st, ok := k.storages[w.Subresource].(rest.Updater)
	if !ok {
		return types.Outcome{}, apierrors.NewMethodNotSupported(k.resource.GroupResource(), "update")
	}
	return s.run(func() (runtime.Object, error) {
		ctx, o := s.context("update"), &metav1.UpdateOptions{DryRun: dryRun(w)}
		out, _, err := st.Update(ctx, w.Name, &changed{s, change}, s.validateCreate(ctx, o), s.validateUpdate(ctx, o), false, o)
		return out, err
	})
}

// changed is the new object of an update, made from the current one. It implements rest.UpdatedObjectInfo.
type changed struct {
	*session
	change func(runtime.Object) (runtime.Object, error)
}

// Preconditions implements rest.UpdatedObjectInfo.
func (c *changed) Preconditions() *metav1.Preconditions {
	if c.write.UID == nil {
		return nil
	}
	return &metav1.Preconditions{UID: c.write.UID}
}

// UpdatedObject implements rest.UpdatedObjectInfo.
func (c *changed) UpdatedObject(ctx context.Context, old runtime.Object) (runtime.Object, error) {
	current, err := versioned(old.DeepCopyObject(), c.kind.resource.KindOf(c.write.Subresource).GroupVersion())
	if err != nil {
		return nil, err
	}
	obj, err := c.change(current)
	if err != nil {
		return nil, err
	}
	c.claims = claimVolumes(obj)
	hub, err := internal(obj)
	if err != nil {
		return nil, err
	}
	if c.live == nil {
		return hub, c.admit(ctx, admission.Create, hub, nil, &metav1.CreateOptions{DryRun: dryRun(c.write)})
	}
	return hub, c.admit(ctx, admission.Update, hub, old, &metav1.UpdateOptions{DryRun: dryRun(c.write)})
}

// Delete implements types.Storage.
func (k *kind) Delete(w *types.Write, o *metav1.DeleteOptions) (types.Outcome, error) {
	s := newSession(k, w)
	st, ok := k.storages[w.Subresource].(rest.GracefulDeleter)
	if !ok {
		return types.Outcome{}, apierrors.NewMethodNotSupported(k.resource.GroupResource(), "delete")
	}
	o = o.DeepCopy()
	asked := int64(0)
	if o.GracePeriodSeconds != nil {
		asked = *o.GracePeriodSeconds
		if asked < 0 {
			asked = 1
		}
	}
	s.deleting = &asked
	return s.run(func() (runtime.Object, error) {
		ctx := s.context("delete")
		out, _, err := st.Delete(ctx, w.Name, s.validateDelete(ctx, o), o)
		return out, err
	})
}

// DeleteCollection implements types.Storage. The storage finds no object, and so does what it does before.
func (k *kind) DeleteCollection(w *types.Write, o *metav1.DeleteOptions) (types.Outcome, error) {
	st, ok := k.storages[""].(rest.CollectionDeleter)
	if !ok {
		return types.Outcome{}, apierrors.NewMethodNotSupported(k.resource.GroupResource(), "delete")
	}
	s := newSession(k, w)
	s.collection = true
	s.kind.now.session = s
	defer func() { s.kind.now.session = nil }()
	_, err := st.DeleteCollection(s.context("deletecollection"), rest.ValidateAllObjectFunc, o.DeepCopy(), nil)
	return types.Outcome{Warnings: s.warnings}, err
}

// Bookmark implements types.Storage. A conversion gives an empty object what a pointer points to: a Deployment has 0 replicas then.
func (k *kind) Bookmark(obj runtime.Object) (runtime.Object, error) {
	hub, err := internal(obj)
	if err != nil {
		return nil, err
	}
	return versioned(hub, k.gv)
}

// Show implements types.Storage.
func (k *kind) Show(subresource string, stored runtime.Object) (runtime.Object, error) {
	m, err := meta.Accessor(stored)
	if err != nil {
		return nil, err
	}
	s := newSession(k, &types.Write{Subresource: subresource, Namespace: m.GetNamespace(), Name: m.GetName(), Live: stored})
	st, ok := k.storages[subresource].(rest.Getter)
	if !ok {
		return nil, apierrors.NewMethodNotSupported(k.resource.GroupResource(), "get")
	}
	hub, err := st.Get(s.context("get"), m.GetName(), &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return versioned(hub, k.resource.KindOf(subresource).GroupVersion())
}

func dryRun(w *types.Write) []string {
	if w.DryRun {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// run carries out a write, and says what has come of it.
func (s *session) run(write func() (runtime.Object, error)) (types.Outcome, error) {
	s.kind.now.session = s
	defer func() { s.kind.now.session = nil }()
	out, err := write()
	orderWarnings(s.warnings)
	o := types.Outcome{Warnings: s.warnings}
	if err != nil {
		return o, inOrder(err, s.claims)
	}
	o.Stored, o.Persisted, o.Created, o.Deleted, o.Earlier, o.Effects = s.stored, s.written, s.created, s.deleted, s.earlier, append(s.effects, s.addressEffects()...)
	o.Answer, err = s.answer(out)
	return o, err
}

// answer returns the answer if it is not the stored or the deleted object.
func (s *session) answer(out runtime.Object) (runtime.Object, error) {
	k, sub := s.kind, s.write.Subresource
	if status, ok := out.(*metav1.Status); ok {
		status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		return status, nil
	}
	switch out := out.(type) {
	case *authentication.TokenRequest:
		s.stampToken(&out.CreationTimestamp, &out.Status.ExpirationTimestamp, out.Spec.ExpirationSeconds)
	case *authentication.SelfSubjectReview:
		out.CreationTimestamp = s.now()
	}
	gvk := k.resource.KindOf(sub)
	own := gvk == k.gvk
	switch {
	case s.write.DryRun && k.resource.Allows("get", sub):
		s.stampDry(out)
	case s.stored == nil && !s.deleted && s.live == nil: // a review, which is answered only
	case own && s.deleted && s.deleting == nil: // with an update, which is answered as if it had been stored
	case own || sub == types.Scale:
		return nil, nil
	}
	gv := gvk.GroupVersion()
	if own {
		gv = k.stored
	}
	return versioned(out, gv)
}
