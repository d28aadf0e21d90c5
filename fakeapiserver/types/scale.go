package types

import (
	"fmt"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// ReadScale returns the scale of a custom resource's object. found is false if the object does not set replicas: a GET of a custom resource's scale
// answers that with an error (ErrNoReplicas), a write treats it as unset.
func (r *Resource) ReadScale(obj runtime.Object) (scale *autoscalingv1.Scale, found bool, err error) {
	sub := r.Subresource(Scale)
	if sub == nil || sub.Replicas == nil {
		return nil, false, apierrors.NewInternalError(fmt.Errorf("%s has no scale", r))
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, false, apierrors.NewInternalError(err)
	}
	scale = &autoscalingv1.Scale{
		TypeMeta: metav1.TypeMeta{APIVersion: "autoscaling/v1", Kind: "Scale"},
		ObjectMeta: metav1.ObjectMeta{
			Name: m.GetName(), Namespace: m.GetNamespace(), UID: m.GetUID(),
			ResourceVersion: m.GetResourceVersion(), CreationTimestamp: m.GetCreationTimestamp(),
		},
	}
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, false, apierrors.NewInternalError(fmt.Errorf("a %T is no custom resource", obj))
	}
	found, err = readReplicas(u.Object, sub.Replicas, scale)
	return scale, found, err
}

// ErrNoReplicas returns the answer to a GET of a scale whose object does not set replicas.
func (r *Resource) ErrNoReplicas() error {
	return apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", "."+r.Subresource(Scale).Replicas.Spec))
}

func readReplicas(content map[string]any, paths *ReplicaPaths, scale *autoscalingv1.Scale) (bool, error) {
	spec, found, err := unstructured.NestedInt64(content, strings.Split(paths.Spec, ".")...)
	if err != nil {
		return false, err
	}
	status, _, err := unstructured.NestedInt64(content, strings.Split(paths.Status, ".")...)
	if err != nil {
		return false, err
	}
	if paths.Selector != "" {
		selector, _, err := unstructured.NestedString(content, strings.Split(paths.Selector, ".")...)
		if err != nil {
			return false, err
		}
		scale.Status.Selector = selector
	}
	scale.Spec.Replicas, scale.Status.Replicas = int32(spec), int32(status)
	return found, nil
}

// WriteScale returns a copy of live with the replicas of scale, and its resourceVersion if it has one.
func (r *Resource) WriteScale(live runtime.Object, scale *autoscalingv1.Scale) (runtime.Object, error) {
	obj, ok := live.DeepCopyObject().(*unstructured.Unstructured)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("a %T is no custom resource", live))
	}
	path := strings.Split(r.Subresource(Scale).Replicas.Spec, ".")
	if err := unstructured.SetNestedField(obj.Object, int64(scale.Spec.Replicas), path...); err != nil {
		return nil, err
	}
	if scale.ResourceVersion != "" {
		obj.SetResourceVersion(scale.ResourceVersion)
	}
	return obj, nil
}
