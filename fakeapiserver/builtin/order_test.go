package builtin

import (
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// often is how many times a write is made to see whether it has the same answer each time.
const often = 20

// same fails the test if answer does not return the same text each time, with at least so many parts.
func same(t *testing.T, parts int, answer func() (text string, has int)) {
	t.Helper()
	want, has := answer()
	if has < parts {
		t.Fatalf("the answer has %d parts, fewer than %d:\n%s", has, parts, want)
	}
	for range often {
		if got, _ := answer(); got != want {
			t.Fatalf("once\n%s\nand then\n%s", want, got)
		}
	}
}

// Errors about the entries of a map are listed in the same order every time, and all others where the code finds them.
func TestErrorsAreInOrder(t *testing.T) {
	for _, c := range []struct {
		name, plural, version, body string
		causes                      int
	}{
		{"labels and limits", "pods", "v1", `{apiVersion: v1, kind: Pod, metadata: {name: P, labels: {"a!": b, "c!": d, "e!": f}}, spec: {restartPolicy: x,
 containers: [{name: c, resources: {limits: {"x!": 1, "y!": 2, "z!": 3}}}]}}`, 8},
		{"a LimitRange compares", "limitranges", "v1", `{apiVersion: v1, kind: LimitRange, metadata: {name: l}, spec: {limits: [{type: Container,
 min: {cpu: 3, memory: 3, example.com/a: 3}, max: {cpu: 1, memory: 1, example.com/a: 1}, defaultRequest: {cpu: 2, memory: 2, example.com/a: 2}}]}}`, 9},
		{"a metric with several sources", "horizontalpodautoscalers.autoscaling", "v2", `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h},
 spec: {maxReplicas: 2, scaleTargetRef: {kind: Deployment, name: d}, metrics: [{type: External, external: {metric: {name: m}, target: {type: Value, value: 1}},
 object: {metric: {name: m}, target: {type: Value, value: 1}, describedObject: {kind: Service, name: s}}, pods: {metric: {name: m}, target: {type: AverageValue, averageValue: 1}},
 resource: {name: cpu, target: {type: Utilization, averageUtilization: 1}}}]}}`, 3},
		{"one of two claim templates", "statefulsets.apps", "v1", `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {selector: {matchLabels: {a: b}},
 template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}, volumeClaimTemplates: [
 {metadata: {name: A}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1}}}},
 {metadata: {name: b}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1}}}}]}}`, 1},
		{"below an entry", "resourceslices.resource.k8s.io", "v1", `{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, spec: {driver: d.example.com, nodeName: one,
 pool: {name: p, generation: 1, resourceSliceCount: 1}, devices: [{name: d, attributes: {"a!": {}, "b!": {}, c: {}, d: {}}}]}}`, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			same(t, c.causes, func() (string, int) {
				_, err := serve(t, c.plural, c.version).create(c.body)
				var status *apierrors.StatusError
				if !errors.As(err, &status) || status.ErrStatus.Details == nil {
					t.Fatalf("the answer is %v", err)
				}
				text := err.Error()
				for _, cause := range status.ErrStatus.Details.Causes {
					text += "\n" + cause.Field + ": " + cause.Message
				}
				return text, len(status.ErrStatus.Details.Causes)
			})
		})
	}
}

// New scheduling gates are refused in the same order every time.
func TestNewGatesAreInOrder(t *testing.T) {
	s := serve(t, "pods", "v1")
	s.mustCreate(`{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {schedulingGates: [{name: a}], containers: [{name: c, image: x}]}}`)
	same(t, 3, func() (string, int) {
		_, err := s.update("", "p", func(obj runtime.Object) {
			spec := &obj.(*corev1.Pod).Spec
			for _, gate := range []string{"b", "c", "d"} {
				spec.SchedulingGates = append(spec.SchedulingGates, corev1.PodSchedulingGate{Name: gate})
			}
		})
		if err == nil {
			t.Fatal("gates were added")
		}
		return err.Error(), strings.Count(err.Error(), "found new scheduling gate")
	})
}

// So are warnings, and what a LimitRange refuses.
func TestWarningsAndLimitsAreInOrder(t *testing.T) {
	pod := func(s *single) (warnings []string, err error) {
		out, err := s.storage().Create(s.write("", ""), s.decode("", `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {
 nodeSelector: {beta.kubernetes.io/arch: a, beta.kubernetes.io/os: b, beta.kubernetes.io/instance-type: c, failure-domain.beta.kubernetes.io/zone: d},
 containers: [{name: c, image: x, resources: {limits: {cpu: 3, memory: 3, example.com/a: 3}}}]}}`))
		return out.Warnings, err
	}
	same(t, 4, func() (string, int) {
		warnings, err := pod(serve(t, "pods", "v1"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(warnings, "\n"), len(warnings)
	})
	s := serve(t, "pods", "v1")
	one := resource.MustParse("1")
	limit := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "l", Namespace: "ns"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
		{Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceCPU: one, corev1.ResourceMemory: one, "example.com/a": one}},
	}}}
	s.more = map[string][]runtime.Object{"limitranges": {limit}}
	same(t, 3, func() (string, int) {
		_, err := pod(s)
		if !apierrors.IsForbidden(err) {
			t.Fatalf("the answer is %v", err)
		}
		return err.Error(), strings.Count(err.Error(), "maximum ")
	})
}

// A namespace that is being deleted keeps its finalizers in their order, and that of garbage collection comes last.
func TestFinalizersOfNamespacesAreInOrder(t *testing.T) {
	orphan := metav1.DeletePropagationOrphan
	for _, dry := range []bool{false, true} {
		for range often {
			s := serve(t, "namespaces", "v1")
			s.mustCreate(`{apiVersion: v1, kind: Namespace, metadata: {name: one, finalizers: [example.com/c, example.com/a, example.com/b]}}`)
			w := s.write("", "one")
			w.DryRun = dry
			out, err := s.storage().Delete(w, &metav1.DeleteOptions{PropagationPolicy: &orphan})
			if err != nil {
				t.Fatal(err)
			}
			answer := out.Stored
			if dry {
				answer = out.Answer
			}
			n, ok := answer.(*corev1.Namespace)
			if want := []string{"example.com/c", "example.com/a", "example.com/b", "orphan"}; !ok || !slices.Equal(n.Finalizers, want) {
				t.Fatalf("the answer is %+v, want finalizers %q", answer, want)
			}
		}
	}
}
