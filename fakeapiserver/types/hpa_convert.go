package types

import (
	"encoding/json"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Annotations hold what version 1 of a HorizontalPodAutoscaler has no fields for, as in a real cluster.
const (
	hpaMetrics        = "autoscaling.alpha.kubernetes.io/metrics"
	hpaCurrentMetrics = "autoscaling.alpha.kubernetes.io/current-metrics"
	hpaConditions     = "autoscaling.alpha.kubernetes.io/conditions"
	hpaBehavior       = "autoscaling.alpha.kubernetes.io/behavior"
)

func hpaToV1(in *autoscalingv2.HorizontalPodAutoscaler) (runtime.Object, error) {
	out := &autoscalingv1.HorizontalPodAutoscaler{ObjectMeta: *in.ObjectMeta.DeepCopy()}
	out.SetGroupVersionKind(autoscalingv1.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"))
	if err := recode(in.Spec, &out.Spec); err != nil {
		return nil, err
	}
	if err := recode(in.Status, &out.Status); err != nil {
		return nil, err
	}
	var metrics []autoscalingv1.MetricSpec
	for _, m := range in.Spec.Metrics {
		if cpu := m.Resource; cpu != nil && cpu.Name == corev1.ResourceCPU && cpu.Target.AverageUtilization != nil && out.Spec.TargetCPUUtilizationPercentage == nil {
			out.Spec.TargetCPUUtilizationPercentage = cpu.Target.AverageUtilization
			continue
		}
		metrics = append(metrics, metricToV1(m))
	}
	var current []autoscalingv2.MetricStatus
	for _, m := range in.Status.CurrentMetrics {
		if cpu := m.Resource; cpu != nil && cpu.Name == corev1.ResourceCPU && cpu.Current.AverageUtilization != nil {
			out.Status.CurrentCPUUtilizationPercentage = cpu.Current.AverageUtilization
		}
		current = append(current, m)
	}
	for _, a := range []struct {
		key   string
		value any
		found bool
	}{
		{hpaMetrics, metrics, len(metrics) > 0}, {hpaCurrentMetrics, current, len(current) > 0},
		{hpaConditions, in.Status.Conditions, len(in.Status.Conditions) > 0}, {hpaBehavior, in.Spec.Behavior, in.Spec.Behavior != nil},
	} {
		if !a.found {
			continue
		}
		data, err := json.Marshal(a.value)
		if err != nil {
			return nil, err
		}
		if out.Annotations == nil {
			out.Annotations = map[string]string{}
		}
		out.Annotations[a.key] = string(data)
	}
	return out, nil
}

func hpaToV2(in *autoscalingv1.HorizontalPodAutoscaler) (runtime.Object, error) {
	out := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: *in.ObjectMeta.DeepCopy()}
	out.SetGroupVersionKind(autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"))
	if err := recode(in.Spec, &out.Spec); err != nil {
		return nil, err
	}
	if err := recode(in.Status, &out.Status); err != nil {
		return nil, err
	}
	if target := in.Spec.TargetCPUUtilizationPercentage; target != nil {
		out.Spec.Metrics = []autoscalingv2.MetricSpec{{
			Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricSource{
				Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: target},
			},
		}}
	}
	var metrics []autoscalingv1.MetricSpec
	for key, into := range map[string]any{ // order: each annotation has a field of its own
		hpaMetrics: &metrics, hpaCurrentMetrics: &out.Status.CurrentMetrics, hpaConditions: &out.Status.Conditions, hpaBehavior: &out.Spec.Behavior,
	} {
		text, found := in.Annotations[key]
		if !found {
			continue
		}
		if err := json.Unmarshal([]byte(text), into); err != nil {
			return nil, fmt.Errorf("types: annotation %s: %w", key, err)
		}
		delete(out.Annotations, key)
	}
	for _, m := range metrics {
		out.Spec.Metrics = append(out.Spec.Metrics, metricToV2(m))
	}
	if len(out.Annotations) == 0 {
		out.Annotations = nil
	}
	return out, nil
}

func metricToV1(m autoscalingv2.MetricSpec) autoscalingv1.MetricSpec {
	out := autoscalingv1.MetricSpec{Type: autoscalingv1.MetricSourceType(m.Type)}
	if o := m.Object; o != nil {
		out.Object = &autoscalingv1.ObjectMetricSource{Target: autoscalingv1.CrossVersionObjectReference(o.DescribedObject), MetricName: o.Metric.Name, Selector: o.Metric.Selector, AverageValue: o.Target.AverageValue}
		if o.Target.Value != nil {
			out.Object.TargetValue = *o.Target.Value
		}
	}
	if p := m.Pods; p != nil {
		out.Pods = &autoscalingv1.PodsMetricSource{MetricName: p.Metric.Name, Selector: p.Metric.Selector}
		if p.Target.AverageValue != nil {
			out.Pods.TargetAverageValue = *p.Target.AverageValue
		}
	}
	if r := m.Resource; r != nil {
		out.Resource = &autoscalingv1.ResourceMetricSource{Name: r.Name, TargetAverageUtilization: r.Target.AverageUtilization, TargetAverageValue: r.Target.AverageValue}
	}
	if c := m.ContainerResource; c != nil {
		out.ContainerResource = &autoscalingv1.ContainerResourceMetricSource{
			Name: c.Name, Container: c.Container, TargetAverageUtilization: c.Target.AverageUtilization, TargetAverageValue: c.Target.AverageValue,
		}
	}
	if e := m.External; e != nil {
		out.External = &autoscalingv1.ExternalMetricSource{MetricName: e.Metric.Name, MetricSelector: e.Metric.Selector, TargetValue: e.Target.Value, TargetAverageValue: e.Target.AverageValue}
	}
	return out
}

func metricToV2(m autoscalingv1.MetricSpec) autoscalingv2.MetricSpec {
	out := autoscalingv2.MetricSpec{Type: autoscalingv2.MetricSourceType(m.Type)}
	if o := m.Object; o != nil {
		target := autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: &o.TargetValue, AverageValue: o.AverageValue}
		if o.AverageValue != nil {
			target.Type, target.Value = autoscalingv2.AverageValueMetricType, nil
		}
		out.Object = &autoscalingv2.ObjectMetricSource{
			DescribedObject: autoscalingv2.CrossVersionObjectReference(o.Target), Target: target,
			Metric: autoscalingv2.MetricIdentifier{Name: o.MetricName, Selector: o.Selector},
		}
	}
	if p := m.Pods; p != nil {
		out.Pods = &autoscalingv2.PodsMetricSource{
			Metric: autoscalingv2.MetricIdentifier{Name: p.MetricName, Selector: p.Selector},
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: &p.TargetAverageValue},
		}
	}
	utilization := func(percent *int32) autoscalingv2.MetricTargetType {
		if percent != nil {
			return autoscalingv2.UtilizationMetricType
		}
		return autoscalingv2.AverageValueMetricType
	}
	if r := m.Resource; r != nil {
		out.Resource = &autoscalingv2.ResourceMetricSource{Name: r.Name, Target: autoscalingv2.MetricTarget{
			Type: utilization(r.TargetAverageUtilization), AverageUtilization: r.TargetAverageUtilization, AverageValue: r.TargetAverageValue,
		}}
	}
	if c := m.ContainerResource; c != nil {
		out.ContainerResource = &autoscalingv2.ContainerResourceMetricSource{Name: c.Name, Container: c.Container, Target: autoscalingv2.MetricTarget{
			Type: utilization(c.TargetAverageUtilization), AverageUtilization: c.TargetAverageUtilization, AverageValue: c.TargetAverageValue,
		}}
	}
	if e := m.External; e != nil {
		target := autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: e.TargetValue, AverageValue: e.TargetAverageValue}
		if e.TargetAverageValue != nil {
			target.Type = autoscalingv2.AverageValueMetricType
		}
		out.External = &autoscalingv2.ExternalMetricSource{Metric: autoscalingv2.MetricIdentifier{Name: e.MetricName, Selector: e.MetricSelector}, Target: target}
	}
	return out
}
