package service_test

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	service "github.com/informersim/informersim/examples/service-controller"
	"github.com/informersim/informersim/simtest"
)

// Eventually exactly the Services that want a load balancer have one, and report it in their status. Crashes of the controller,
// lost answers and missed events only delay that.
func TestServiceController(t *testing.T) {
	simtest.Run(t, simtest.Options{Replicas: 2, Seeds: 50, CrashProbability: 0.002}, func(env *simtest.Env) {
		cloud := service.NewCloud()
		env.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}})
		env.Go("controller", func(ctx context.Context) error {
			return service.Run(ctx, env.RESTConfig("controller"), cloud)
		})
		for i := range 15 {
			change(env, i)
			env.Advance(time.Duration(env.Rand().IntN(20)) * time.Second)
		}
		env.StopFaults()
		env.Eventually("load balancers are those that Services want", time.Hour, func() error { return asWanted(env, cloud) })
	})
}

// change creates a Service, or deletes or changes one that exists.
func change(env *simtest.Env, i int) {
	s := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("s-%d", env.Rand().IntN(3))},
	}
	exists := env.Get(s) == nil
	s.Spec.Type = []corev1.ServiceType{corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeClusterIP}[env.Rand().IntN(3)]
	s.Spec.Ports = []corev1.ServicePort{{Name: "web", Port: int32(8000 + i), Protocol: corev1.ProtocolTCP}}
	switch {
	case !exists:
		env.Create(s)
	case env.Rand().IntN(3) == 0:
		env.Delete(s)
	case s.DeletionTimestamp == nil:
		env.Update(s)
	}
}

func asWanted(env *simtest.Env, cloud *service.Cloud) error {
	var services corev1.ServiceList
	if err := env.List(&services, ""); err != nil {
		return err
	}
	want, have := map[string]int32{}, map[string]int32{}
	for _, s := range services.Items {
		if wants := s.Spec.Type == corev1.ServiceTypeLoadBalancer; wants {
			want[s.Namespace+"/"+s.Name] = s.Spec.Ports[0].Port
			if len(s.Status.LoadBalancer.Ingress) != 1 {
				return fmt.Errorf("the status of %s lacks its load balancer", s.Name)
			}
		}
	}
	for name, ports := range cloud.Balancers() {
		have[name] = ports[0].Port
	}
	if !maps.Equal(want, have) {
		return fmt.Errorf("the load balancers are %v, the Services want %v", have, want)
	}
	return nil
}
