package types

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func lookup(t *testing.T, group, version, plural string) *Resource {
	t.Helper()
	reg := NewRegistry()
	if err := reg.Add(Builtin(BuiltinOptions{AllVersions: true})...); err != nil {
		t.Fatal(err)
	}
	r := reg.Lookup(schema.GroupVersionResource{Group: group, Version: version, Resource: plural})
	if r == nil {
		t.Fatalf("no %s/%s %s", group, version, plural)
	}
	return r
}

// A HorizontalPodAutoscaler survives a round trip through the other version.
func TestHPARoundTrip(t *testing.T) {
	v1, v2 := lookup(t, "autoscaling", "v1", "horizontalpodautoscalers"), lookup(t, "autoscaling", "v2", "horizontalpodautoscalers")
	fifty, two := int32(50), int32(2)
	q := resource.MustParse("10")
	in := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "h", Annotations: map[string]string{"mine": "x"}},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: "d", APIVersion: "apps/v1"}, MinReplicas: &two, MaxReplicas: 9,
			Metrics: []autoscalingv2.MetricSpec{
				{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &fifty}}},
				{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceMemory, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: &q}}},
				{Type: autoscalingv2.PodsMetricSourceType, Pods: &autoscalingv2.PodsMetricSource{Metric: autoscalingv2.MetricIdentifier{Name: "m"}, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: &q}}},
				{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{Metric: autoscalingv2.MetricIdentifier{Name: "e"}, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: &q}}},
				{Type: autoscalingv2.ContainerResourceMetricSourceType, ContainerResource: &autoscalingv2.ContainerResourceMetricSource{Name: corev1.ResourceCPU, Container: "c", Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &fifty}}},
				{Type: autoscalingv2.ObjectMetricSourceType, Object: &autoscalingv2.ObjectMetricSource{DescribedObject: autoscalingv2.CrossVersionObjectReference{Kind: "Service", Name: "s"}, Metric: autoscalingv2.MetricIdentifier{Name: "o"}, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: &q}}},
			},
			Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: &two}},
		},
		Status: autoscalingv2.HorizontalPodAutoscalerStatus{
			CurrentReplicas: 3, DesiredReplicas: 4, Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{{Type: autoscalingv2.AbleToScale, Status: corev1.ConditionTrue}},
		},
	}
	in.SetGroupVersionKind(v2.GroupVersionKind())
	before := in.DeepCopy()
	old, err := v1.Strategy.Convert(in)
	if err != nil {
		t.Fatal(err)
	}
	if h := old.(*autoscalingv1.HorizontalPodAutoscaler); *h.Spec.TargetCPUUtilizationPercentage != 50 || h.Spec.MaxReplicas != 9 || h.Status.CurrentReplicas != 3 || h.Kind == "" {
		t.Errorf("in version 1: %+v", h)
	}
	back, err := v2.Strategy.Convert(old)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(runtime.Object(in), back); diff != "" {
		t.Errorf("round trip (-before +after):\n%s", diff)
	}
	if !reflect.DeepEqual(in, before) {
		t.Error("conversion changed its input")
	}
	broken := old.DeepCopyObject().(*autoscalingv1.HorizontalPodAutoscaler)
	broken.Annotations[hpaMetrics] = "{"
	if _, err := v2.Strategy.Convert(broken); err == nil {
		t.Error("an annotation that is not JSON was converted")
	}
}

func TestOtherVersionsConvertSharedFields(t *testing.T) {
	v1, beta := lookup(t, "apps", "v1", "deployments"), lookup(t, "apps", "v1beta1", "deployments")
	if beta.StorageVersion != "v1" || v1.StorageVersion != "v1" {
		t.Errorf("stored are %s and %s", beta.StorageVersion, v1.StorageVersion)
	}
	obj, _, err := beta.Decode(Body{Data: []byte(`{"apiVersion":"apps/v1beta1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":3,"rollbackTo":{"revision":1},"selector":{"matchLabels":{"a":"b"}}}}`)}, "")
	if err != nil {
		t.Fatal(err)
	}
	stored, err := v1.Strategy.Convert(obj)
	if err != nil {
		t.Fatal(err)
	}
	if d := stored.(*appsv1.Deployment); d.APIVersion != "apps/v1" || *d.Spec.Replicas != 3 || d.Spec.Selector.MatchLabels["a"] != "b" {
		t.Errorf("converted to %+v", d)
	}
	if _, err := v1.Strategy.Convert(&corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}); err == nil {
		t.Error("a pod was converted to a deployment")
	}
}
