package controllers

import (
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// GracePeriod returns how many seconds an object lives on after it is deleted.
type GracePeriod func(res store.ResourceID, obj runtime.Object) int64

// writer changes objects like the apiserver on behalf of a controller.
type writer struct {
	cluster *fakeapiserver.Cluster
	grace   GracePeriod
}

// get returns the newest state of an object, nil if there is none with that uid; an empty uid means any.
func (w *writer) get(o object) (runtime.Object, metav1.Object) {
	obj, _ := w.cluster.Store().Get(o.res, o.namespace, o.name)
	m, ok := obj.(metav1.Object)
	if !ok || o.uid != "" && m.GetUID() != o.uid {
		return nil, nil
	}
	return obj, m
}

// change commits an edited copy of an object. An object that is being deleted and has nothing left to wait for is deleted instead,
// and still shows its last finalizer (S18).
func (w *writer) change(o object, edit func(metav1.Object)) error {
	obj, old := w.get(o)
	if obj == nil {
		return nil
	}
	next := obj.DeepCopyObject()
	m, ok := next.(metav1.Object)
	if !ok {
		return nil
	}
	edit(m)
	return w.put(o, old, next)
}

// put commits the next state of an object whose state is old.
func (w *writer) put(o object, old metav1.Object, next runtime.Object) error {
	m, ok := next.(metav1.Object)
	if !ok {
		return nil
	}
	if old.GetDeletionTimestamp() != nil && len(m.GetFinalizers()) == 0 && !namespaceHasFinalizers(next) && graceLeft(m) == 0 {
		_, err := w.cluster.Delete(o.res, o.namespace, o.name, nil)
		return ignoreGone(err)
	}
	_, err := w.cluster.Update(o.res, next)
	return ignoreGone(err)
}

// delete deletes an object like the apiserver: at once, or by marking it if finalizers or a grace period keep it.
func (w *writer) delete(o object, policy metav1.DeletionPropagation) error {
	obj, m := w.get(o)
	if obj == nil {
		return nil
	}
	finalizers := propagation(m.GetFinalizers(), policy)
	grace := int64(0)
	if w.grace != nil {
		grace = w.grace(o.res, obj)
	}
	if len(finalizers) == 0 && grace == 0 && !namespaceHasFinalizers(obj) {
		_, err := w.cluster.Delete(o.res, o.namespace, o.name, nil)
		return ignoreGone(err)
	}
	if m.GetDeletionTimestamp() != nil && slices.Equal(finalizers, m.GetFinalizers()) && graceLeft(m) <= grace {
		return nil
	}
	return w.change(o, func(m metav1.Object) {
		if m.GetDeletionTimestamp() == nil {
			m.SetGeneration(m.GetGeneration() + 1)
		}
		at := metav1.NewTime(w.cluster.Now().Truncate(time.Second).Add(time.Duration(grace) * time.Second))
		m.SetDeletionTimestamp(&at)
		m.SetDeletionGracePeriodSeconds(&grace)
		m.SetFinalizers(finalizers)
	})
}

// Delete deletes an object like the apiserver, inside a step: if finalizers keep it, it is only marked.
func Delete(c *fakeapiserver.Cluster, res store.ResourceID, namespace, name string) error {
	w := &writer{cluster: c}
	return w.delete(object{res: res, namespace: namespace, name: name}, "")
}

// DeleteAll deletes every object of a resource, in key order, inside a step. It returns how many finalizers keep.
func DeleteAll(c *fakeapiserver.Cluster, res store.ResourceID) (left int, err error) {
	w := &writer{cluster: c}
	var all []object
	s := c.Store()
	if err := s.Walk(res, s.Revision(), "", func(_ string, obj runtime.Object) bool {
		if m, ok := obj.(metav1.Object); ok {
			all = append(all, object{res: res, namespace: m.GetNamespace(), name: m.GetName(), uid: m.GetUID()})
		}
		return true
	}); err != nil {
		return 0, err
	}
	for _, o := range all {
		if err := w.delete(o, ""); err != nil {
			return 0, err
		}
		if obj, _ := w.get(o); obj != nil {
			left++
		}
	}
	return left, nil
}

func graceLeft(m metav1.Object) int64 {
	if g := m.GetDeletionGracePeriodSeconds(); g != nil {
		return *g
	}
	return 0
}

// propagation returns an object's finalizers once its deletion with that policy has begun.
func propagation(have []string, policy metav1.DeletionPropagation) []string {
	out := slices.DeleteFunc(slices.Clone(have), func(f string) bool {
		return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
	})
	switch policy {
	case metav1.DeletePropagationOrphan:
		out = append(out, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationForeground:
		out = append(out, metav1.FinalizerDeleteDependents)
	}
	return out
}

func without(list []string, s string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(x string) bool { return x == s })
}

// ignoreGone ignores the errors of a lost race.
func ignoreGone(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
