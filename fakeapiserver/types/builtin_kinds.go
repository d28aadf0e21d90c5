package types

import (
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
)

// Rules of single kinds beyond the flags of the table, taken from the kinds' strategies in k8s.io/kubernetes.

// initialStatus sets the status that some kinds have on creation.
func initialStatus(obj runtime.Object) {
	switch o := obj.(type) {
	case *corev1.Pod:
		o.Status.Phase = corev1.PodPending
	case *corev1.PersistentVolume:
		o.Status.Phase = corev1.VolumePending
	case *corev1.PersistentVolumeClaim:
		o.Status.Phase = corev1.ClaimPending
	case *corev1.Namespace:
		o.Status.Phase = corev1.NamespaceActive
		if !slices.Contains(o.Spec.Finalizers, corev1.FinalizerKubernetes) {
			o.Spec.Finalizers = append(slices.Clone(o.Spec.Finalizers), corev1.FinalizerKubernetes)
		}
	case *corev1.Secret:
		if o.Type == "" {
			o.Type = corev1.SecretTypeOpaque
		}
		foldStringData(o)
	}
}

// foldStringData merges stringData into data.
func foldStringData(o *corev1.Secret) {
	if len(o.StringData) == 0 {
		return
	}
	data := make(map[string][]byte, len(o.Data)+len(o.StringData))
	for k, v := range o.Data { // order: a copy into a map
		data[k] = v
	}
	for k, v := range o.StringData { // order: a copy into a map
		data[k] = []byte(v)
	}
	o.Data, o.StringData = data, nil
}

// keepOnUpdate restores fields that an update of the resource itself may not change.
func keepOnUpdate(obj, old runtime.Object) {
	switch o := obj.(type) {
	case *corev1.Namespace:
		if was, ok := old.(*corev1.Namespace); ok {
			o.Spec.Finalizers = was.Spec.Finalizers
		}
	case *corev1.Secret:
		if was, ok := old.(*corev1.Secret); ok && o.Type == "" {
			o.Type = was.Type
		}
		foldStringData(o)
	}
}

// prepareSpecial restores everything but what the subresource may change.
func prepareSpecial(obj, old runtime.Object, subresource string) {
	switch o := obj.(type) {
	case *corev1.Namespace:
		if was, ok := old.(*corev1.Namespace); ok && subresource == "finalize" {
			o.Status = was.Status
		}
	case *corev1.Pod:
		if was, ok := old.(*corev1.Pod); ok {
			preparePod(o, was, subresource)
		}
	case *certificatesv1.CertificateSigningRequest:
		if was, ok := old.(*certificatesv1.CertificateSigningRequest); ok && subresource == "approval" {
			conditions := o.Status.Conditions
			o.Spec, o.Status = was.Spec, was.Status
			o.Status.Conditions = conditions
		}
	}
}

// preparePod restores everything in pod but what the subresource may change.
func preparePod(pod, old *corev1.Pod, subresource string) {
	asked, managed := pod.Spec, pod.ManagedFields
	version := pod.ResourceVersion
	*pod = *old.DeepCopy()
	pod.ManagedFields, pod.ResourceVersion = managed, version
	switch subresource {
	case "ephemeralcontainers":
		pod.Spec.EphemeralContainers = asked.EphemeralContainers
	case "resize":
		resize(pod.Spec.Containers, asked.Containers)
		resize(pod.Spec.InitContainers, asked.InitContainers)
	}
	if specChanged(pod, old) {
		countGeneration(pod, old)
	}
}

func resize(containers, asked []corev1.Container) {
	for i := range containers {
		j := slices.IndexFunc(asked, func(c corev1.Container) bool { return c.Name == containers[i].Name })
		if j >= 0 {
			containers[i].Resources, containers[i].ResizePolicy = asked[j].Resources, asked[j].ResizePolicy
		}
	}
}

// GracePeriod returns 0 except for pods that are bound to a node and have not terminated.
func (s *builtin) GracePeriod(obj runtime.Object, requested *int64) int64 {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return 0
	}
	period := int64(corev1.DefaultTerminationGracePeriodSeconds)
	switch {
	case requested != nil:
		period = *requested
	case pod.Spec.TerminationGracePeriodSeconds != nil:
		period = *pod.Spec.TerminationGracePeriodSeconds
	}
	ended := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
	if pod.Spec.NodeName == "" || ended {
		return 0
	}
	if period < 0 {
		return 1
	}
	return period
}

// WithoutMeta reports whether objects of this kind have no metadata, like reviews.
func WithoutMeta(obj runtime.Object) bool {
	_, err := meta.Accessor(obj)
	return err != nil
}
