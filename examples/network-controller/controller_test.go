package network_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	network "github.com/informersim/informersim/examples/network-controller"
	"github.com/informersim/informersim/simtest"
)

var options = simtest.Options{CRDs: []string{"network-crd.yaml"}, GarbageCollection: true}

func TestController(t *testing.T) {
	simtest.Run(t, options, testController(network.Mistakes{}))
}

// A controller that is right keeps the ready-made properties, too.
func TestWellBehaved(t *testing.T) {
	o := options
	o.Seeds, o.Properties = 8, simtest.WellBehaved()
	simtest.Run(t, o, testController(network.Mistakes{}))
}

// The statements of testController.
const (
	converges = "all is as the Network objects say"
	rests     = "the controller comes to rest"
	restarts  = "a restart removes nothing"
	resyncs   = "a resync restores what the cloud lost"
)

// testController creates, changes and deletes Networks while the controller runs under faults, waits until everything matches the
// objects, and then looks at what a controller does that has nothing to do.
func testController(mistakes network.Mistakes) func(env *simtest.Env) {
	return func(env *simtest.Env) {
		cloud := newCloud()
		env.Go("controller", func(ctx context.Context) error {
			c, err := network.NewController(env.RESTConfig("controller"), cloud, mistakes)
			if err != nil {
				return err
			}
			return c.Run(ctx)
		})
		for i := range 30 {
			change(env, i)
			env.Advance(time.Duration(env.Rand().IntN(20)) * time.Second)
		}
		env.Create(network.New("default", "last", network.Spec{Cidr: "10.0.0.0/8", Gateway: "10.0.0.1"}))
		env.StopFaults()
		env.Eventually(converges, time.Hour, func() error { return asWanted(env, cloud) })

		cloud.heal()
		env.Eventually(rests, 40*time.Minute, func() error { return cloud.quietFor(20 * time.Minute) })

		before := cloud.removed()
		env.Always(restarts, func() error {
			if n := cloud.removed() - before; n > 0 {
				return fmt.Errorf("%d networks were removed although nothing was deleted", n)
			}
			return nil
		})
		env.Restart("controller")
		env.Advance(time.Minute)

		cloud.lose("default/last")
		env.Eventually(resyncs, network.Resync+time.Hour, func() error { return asWanted(env, cloud) })
	}
}

// change creates a Network, or has its owner or somebody else do something to one that exists.
func change(env *simtest.Env, i int) {
	spec := network.Spec{Cidr: fmt.Sprintf("192.168.%d.0/24", i), Gateway: fmt.Sprintf("192.168.%d.1", i)}
	n := network.New("default", fmt.Sprintf("net-%d", env.Rand().IntN(10)), spec)
	live := n.DeepCopy()
	if env.Get(live) != nil {
		env.Create(n)
		return
	}
	switch env.Rand().IntN(7) {
	case 0, 1:
		env.Delete(n)
	case 2: // the same again, as far as its spec shows
		env.Delete(live.DeepCopy())
		n.Object["spec"] = live.Object["spec"]
		env.Create(n)
	case 3:
		delete(live.Object, "status")
		live.SetResourceVersion("")
		env.UpdateStatus(live)
		annotate(env, n.GetName(), i)
	case 4:
		meddle(env, live)
	case 5:
		env.Update(n)
		annotate(env, n.GetName(), i)
	default:
		env.Update(n)
	}
}

// annotate changes, again and again, what the controller does not care about.
func annotate(env *simtest.Env, name string, i int) {
	for j := range 3 {
		env.Apply(fmt.Sprintf("apiVersion: samplecrd.k8s.io/v1\nkind: Network\nmetadata: {name: %s, annotations: {seen: '%d.%d'}}", name, i, j))
	}
}

// meddle changes or deletes a Network's ConfigMap.
func meddle(env *simtest.Env, owner *unstructured.Unstructured) {
	var all corev1.ConfigMapList
	if err := env.List(&all, ""); err != nil {
		return
	}
	i := slices.IndexFunc(all.Items, func(m corev1.ConfigMap) bool { return metav1.IsControlledBy(&m, owner) })
	switch {
	case i < 0:
	case env.Rand().IntN(2) == 0:
		env.Delete(&all.Items[i])
	default:
		m := &all.Items[i]
		m.Data, m.ResourceVersion = map[string]string{"cidr": "0.0.0.0/0"}, ""
		env.Update(m)
	}
}

// asWanted compares the cloud, the ConfigMaps and the status of the Network objects with their specs.
func asWanted(env *simtest.Env, cloud *cloud) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(network.Resource.GroupVersion().WithKind("NetworkList"))
	if err := env.List(list, ""); err != nil {
		return err
	}
	wanted := map[string]network.Spec{}
	var networks []*network.Network
	for i := range list.Items {
		n, err := network.FromObject(&list.Items[i])
		if err != nil {
			return err
		}
		wanted[n.Namespace+"/"+n.Name] = n.Spec
		networks = append(networks, n)
	}
	if err := cloud.has(wanted); err != nil {
		return err
	}
	return published(env, networks)
}

// published fails unless each Network has one ConfigMap and a status, and both are right.
func published(env *simtest.Env, networks []*network.Network) error {
	var all corev1.ConfigMapList
	if err := env.List(&all, ""); err != nil {
		return err
	}
	if len(all.Items) != len(networks) {
		return fmt.Errorf("there are %d ConfigMaps for %d Networks", len(all.Items), len(networks))
	}
	for _, n := range networks {
		owned := 0
		for i := range all.Items {
			m := &all.Items[i]
			if !metav1.IsControlledBy(m, n) {
				continue
			}
			if owned++; m.Data["cidr"] != n.Spec.Cidr || m.Data["gateway"] != n.Spec.Gateway {
				return fmt.Errorf("the ConfigMap of %s has %v, want %v", n.Name, m.Data, n.Spec)
			}
		}
		if owned != 1 {
			return fmt.Errorf("%s has %d ConfigMaps", n.Name, owned)
		}
		if want := (network.Status{ObservedGeneration: n.Generation, Cidr: n.Spec.Cidr}); n.Status != want {
			return fmt.Errorf("the status of %s is %+v, want %+v", n.Name, n.Status, want)
		}
	}
	return nil
}
