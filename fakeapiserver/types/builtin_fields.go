package types

import (
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Field reads a selectable field. Most fields are read by path; the kinds most often selected by have code, because every event is
// matched against every watch.
func (s *builtin) Field(obj runtime.Object, field string) string {
	switch o := obj.(type) {
	case *corev1.Pod:
		if v, ok := podField(o, field); ok {
			return v
		}
	case *corev1.Node:
		if field == "spec.unschedulable" {
			return strconv.FormatBool(o.Spec.Unschedulable)
		}
	case *corev1.Namespace:
		return string(o.Status.Phase)
	case *corev1.Secret:
		return string(o.Type)
	case *batchv1.Job:
		return strconv.Itoa(int(o.Status.Succeeded)) // the selector calls it status.successful
	case *corev1.Event:
		switch field {
		case "source":
			if o.Source.Component == "" {
				return o.ReportingController
			}
			return o.Source.Component
		case "reportingComponent":
			return o.ReportingController
		}
	}
	return fieldByPath(obj, field)
}

func podField(o *corev1.Pod, field string) (string, bool) {
	switch field {
	case "spec.nodeName":
		return o.Spec.NodeName, true
	case "spec.restartPolicy":
		return string(o.Spec.RestartPolicy), true
	case "spec.schedulerName":
		return o.Spec.SchedulerName, true
	case "spec.serviceAccountName":
		return o.Spec.ServiceAccountName, true
	case "spec.hostNetwork":
		return strconv.FormatBool(o.Spec.HostNetwork), true
	case "status.phase":
		return string(o.Status.Phase), true
	case "status.podIP":
		if o.Status.PodIP == "" && len(o.Status.PodIPs) > 0 {
			return o.Status.PodIPs[0].IP, true
		}
		return o.Status.PodIP, true
	case "status.nominatedNodeName":
		return o.Status.NominatedNodeName, true
	}
	return "", false
}

// fieldByPath reads a dotted path in the object's JSON form.
func fieldByPath(obj runtime.Object, field string) string {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return ""
	}
	return FieldOf(content, field)
}

// FieldOf reads a dotted path in an unstructured object as field selectors do: absent or null is "".
func FieldOf(content map[string]any, field string) string {
	v, found, err := unstructured.NestedFieldNoCopy(content, strings.Split(field, ".")...)
	if err != nil || !found || v == nil {
		return ""
	}
	return fmt.Sprint(v)
}
