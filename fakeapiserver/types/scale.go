package types

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// ReadScale returns the scale of an object. found is false if the object does not set replicas: a GET of a custom resource's scale
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
	if u, ok := obj.(*unstructured.Unstructured); ok {
		found, err = readReplicas(u.Object, sub.Replicas, scale)
		return scale, found, err
	}
	return scale, true, readTyped(obj, scale)
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

// readTyped reads built-in kinds, whose replicas default to 1.
func readTyped(obj runtime.Object, scale *autoscalingv1.Scale) error {
	replicas, status, selector := int32(1), int32(0), (*metav1.LabelSelector)(nil)
	set := func(n *int32) {
		if n != nil {
			replicas = *n
		}
	}
	switch o := obj.(type) {
	case *appsv1.Deployment:
		set(o.Spec.Replicas)
		status, selector = o.Status.Replicas, o.Spec.Selector
	case *appsv1.ReplicaSet:
		set(o.Spec.Replicas)
		status, selector = o.Status.Replicas, o.Spec.Selector
	case *appsv1.StatefulSet:
		set(o.Spec.Replicas)
		status, selector = o.Status.Replicas, o.Spec.Selector
	case *corev1.ReplicationController:
		set(o.Spec.Replicas)
		scale.Status.Selector = labels.Set(o.Spec.Selector).String()
		status = o.Status.Replicas
	default:
		return readOther(obj, scale)
	}
	if selector != nil {
		parsed, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
		scale.Status.Selector = parsed.String()
	}
	scale.Spec.Replicas, scale.Status.Replicas = replicas, status
	return nil
}

// readOther reads older versions of the same kinds, by path.
func readOther(obj runtime.Object, scale *autoscalingv1.Scale) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	found, err := readReplicas(content, &ReplicaPaths{Spec: "spec.replicas", Status: "status.replicas"}, scale)
	if err == nil && !found {
		scale.Spec.Replicas = 1
	}
	return err
}

// WriteScale returns a copy of live with the replicas of scale, and its resourceVersion if it has one.
func (r *Resource) WriteScale(live runtime.Object, scale *autoscalingv1.Scale) (runtime.Object, error) {
	obj := live.DeepCopyObject()
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	replicas := scale.Spec.Replicas
	switch o := obj.(type) {
	case *unstructured.Unstructured:
		path := strings.Split(r.Subresource(Scale).Replicas.Spec, ".")
		if err := unstructured.SetNestedField(o.Object, int64(replicas), path...); err != nil {
			return nil, err
		}
	case *appsv1.Deployment:
		o.Spec.Replicas = &replicas
	case *appsv1.ReplicaSet:
		o.Spec.Replicas = &replicas
	case *appsv1.StatefulSet:
		o.Spec.Replicas = &replicas
	case *corev1.ReplicationController:
		o.Spec.Replicas = &replicas
	default:
		if err := writeOther(obj, replicas); err != nil {
			return nil, err
		}
	}
	if scale.ResourceVersion != "" {
		m.SetResourceVersion(scale.ResourceVersion)
	}
	return obj, nil
}

func writeOther(obj runtime.Object, replicas int32) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if err := unstructured.SetNestedField(content, int64(replicas), "spec", "replicas"); err != nil {
		return apierrors.NewInternalError(err)
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(content, obj)
}
