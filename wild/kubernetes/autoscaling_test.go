package kubernetes_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
	"k8s.io/utils/ptr"

	"github.com/informersim/informersim/simtest"
	wild "github.com/informersim/informersim/wild/kubernetes"
)

const (
	asLoaded = "an autoscaler has scaled to what the load asks for, and says so"
	inBounds = "an autoscaler keeps its bounds"
)

// load is a metric that does not depend on Pods: how much there is to do. Each fourth question is not answered, until the body ends.
type load struct {
	metrics.MetricsClient
	now   int64
	asked int
	calm  bool
}

func (l *load) GetExternalMetric(string, string, labels.Selector) ([]int64, time.Time, error) {
	if l.asked++; !l.calm && l.asked%4 == 0 {
		return nil, time.Time{}, errors.New("no metrics")
	}
	return []int64{l.now * 1000}, time.Now(), nil // in thousandths
}

// In the end a Deployment has the replicas that the load asks for, within the bounds, and the status says so; at no time is it scaled beyond the bounds.
func TestHorizontalPodAutoscaler(t *testing.T) {
	simtest.Run(t, simtest.Options{Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		const least, most, each = 2, 8, 10
		l := &load{now: each}
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](least), Selector: &metav1.LabelSelector{MatchLabels: web}, Template: template(web, corev1.RestartPolicyAlways),
		}}
		h := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}, MinReplicas: ptr.To[int32](least), MaxReplicas: most,
			Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
				Metric: autoscalingv2.MetricIdentifier{Name: "load"},
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: resource.NewQuantity(each, resource.DecimalSI)},
			}}},
		}}
		env.Create(d, h)
		env.Always(inBounds, func() error {
			if err := env.Get(d); err != nil {
				return err
			}
			if n := *d.Spec.Replicas; n < least || n > most {
				return fmt.Errorf("there are to be %d", n)
			}
			return nil
		})
		env.Go("autoscaler", func(ctx context.Context) error { return wild.RunAutoscaler(ctx, env.RESTConfig("autoscaler"), l) })
		for range 12 {
			l.now = env.Rand().Int64N(each * (most + 3))
			pause(env, 4*time.Minute)
		}
		env.StopFaults()
		env.Eventually(asLoaded, time.Hour, func() error {
			if err := errors.Join(env.Get(d), env.Get(h)); err != nil {
				return err
			}
			want, tolerated := min(max((l.now+each-1)/each, least), most), l.now*10 >= int64(*d.Spec.Replicas)*each*9 && l.now*10 <= int64(*d.Spec.Replicas)*each*11
			if n := *d.Spec.Replicas; int64(n) != want && !tolerated || h.Status.DesiredReplicas != n {
				return fmt.Errorf("the load is %d, which asks for %d; %d are to be there, and the status is %+v", l.now, want, n, h.Status)
			}
			return nil
		})
		l.calm = true
	})
}
