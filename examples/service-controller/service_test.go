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

const asServicesWant = "load balancers are those that Services want"

// Eventually exactly the Services that want a load balancer have one, and report it in their status. Crashes of the controller,
// lost answers and missed events only delay that.
func TestServiceController(t *testing.T) {
	simtest.Run(t, simtest.Options{}, testController(false))
}

// It does not hold for Services that change their minds. Having removed a load balancer, the controller takes its finalizer off the
// Service and clears the status. If the Service wants a load balancer again before the controller's cache shows that, it finds a
// finalizer and a status in the cache, and does not write them again. No later event brings it up: a change of finalizers or of the
// status is none that it looks at. The status stays empty, or the load balancer outlives its Service.
func TestServicesThatChangeTheirMinds(t *testing.T) {
	found := simtest.Find(t, simtest.Options{Seeds: 1000}, testController(true))
	if found == nil {
		t.Fatal("not found with 1000 seeds: has the controller been mended?")
	}
	if found.Property != asServicesWant {
		t.Errorf("something else was found:\n%s", found)
	}
	t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
}

// testController creates, changes and deletes Services while the controller runs under faults.
func testController(change bool) func(*simtest.Env) {
	return func(env *simtest.Env) {
		cloud := service.NewCloud()
		env.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}})
		env.Go("controller", func(ctx context.Context) error {
			return service.Run(ctx, env.RESTConfig("controller"), cloud)
		})
		for i := range 15 {
			write(env, i, change)
			env.Advance(time.Duration(env.Rand().IntN(20)) * time.Second)
		}
		env.StopFaults()
		env.Eventually(asServicesWant, time.Hour, func() error { return asWanted(env, cloud) })
	}
}

// write creates a Service, or deletes or changes one that exists. Its name decides its type, unless change is set.
func write(env *simtest.Env, i int, change bool) {
	s := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("s-%d", env.Rand().IntN(3))},
	}
	exists := env.Get(s) == nil
	types := map[string]corev1.ServiceType{"s-0": corev1.ServiceTypeLoadBalancer, "s-1": corev1.ServiceTypeLoadBalancer, "s-2": corev1.ServiceTypeClusterIP}
	wanted := types[s.Name]
	if other := env.Rand().IntN(3); change {
		wanted = types[fmt.Sprintf("s-%d", other)]
	}
	set := func() {
		s.Spec.Type = wanted
		s.Spec.Ports = []corev1.ServicePort{{Name: "web", Port: int32(8000 + i), Protocol: corev1.ProtocolTCP}}
	}
	switch {
	case !exists:
		set()
		env.Create(s)
	case s.DeletionTimestamp != nil: // the controller removes it at any moment
	case env.Rand().IntN(3) == 0:
		env.Delete(s)
	default:
		env.Mutate(s, set)
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
