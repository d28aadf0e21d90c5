package website_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	website "github.com/informersim/informersim/examples/controller-runtime"
	"github.com/informersim/informersim/simtest"
)

var options = simtest.Options{
	CRDs: []string{"crd.yaml"}, Scheme: website.NewScheme(), GarbageCollection: true,
	// A manager of controller-runtime v0.19 that is canceled while it starts leaves a goroutine, which tells nobody of it: the channel has no
	// buffer (pkg/internal/source/kind.go:55). Newer releases have one.
	AllowLeaks: true,
}

// A reconciler that is right keeps the ready-made properties, too.
func TestWellBehaved(t *testing.T) {
	o := options
	o.Seeds, o.Properties = 12, simtest.WellBehaved()
	simtest.Run(t, o, testReconciler(website.Mistakes{}))
}

// The statements of testReconciler.
const (
	onlyOne   = "a Website has one Deployment at most"
	allServed = "every Website is served as specified"
)

// testReconciler creates, changes and deletes Websites, and changes or deletes their Deployments, while the manager runs under faults. No Website ever has two
// Deployments, and eventually each has one that matches the Website, and the others are gone.
func testReconciler(mistakes website.Mistakes) func(env *simtest.Env) {
	return func(env *simtest.Env) {
		env.Go("manager", func(ctx context.Context) error { return website.Run(ctx, env.RESTConfig("manager"), mistakes) })
		env.Always(onlyOne, func() error { return atMostOne(env) })
		for i := range 10 {
			site := &website.Website{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("site-%d", env.Rand().IntN(3))},
				Spec:       website.WebsiteSpec{Image: fmt.Sprintf("image:%d", i), Replicas: int32(env.Rand().IntN(5))},
			}
			live := site.DeepCopyObject().(*website.Website)
			switch exists := env.Get(live) == nil; {
			case !exists:
				env.Create(site)
			case env.Rand().IntN(4) == 0:
				env.Delete(site)
			case env.Rand().IntN(3) == 0:
				meddle(env, live)
			default:
				env.Update(site)
			}
			env.Advance(time.Duration(env.Rand().IntN(10_000)) * time.Millisecond)
		}
		env.StopFaults()
		env.Eventually(allServed, 30*time.Minute, func() error { return served(env) })
	}
}

// meddle changes or deletes a Website's Deployment.
func meddle(env *simtest.Env, site *website.Website) {
	by, err := owned(env)
	if err != nil || len(by[site.UID]) == 0 {
		return
	}
	d := &by[site.UID][0]
	if env.Rand().IntN(2) == 0 {
		env.Delete(d)
		return
	}
	replicas := *d.Spec.Replicas + 10
	d.Spec.Replicas, d.ResourceVersion = &replicas, ""
	env.Update(d)
}

// owned returns the Deployments by the uid of the owning Website. A recreated Website of the same name is another one.
func owned(env *simtest.Env) (map[types.UID][]appsv1.Deployment, error) {
	var all appsv1.DeploymentList
	if err := env.List(&all, ""); err != nil {
		return nil, err
	}
	by := map[types.UID][]appsv1.Deployment{}
	for _, d := range all.Items {
		if owner := metav1.GetControllerOf(&d); owner != nil {
			by[owner.UID] = append(by[owner.UID], d)
		}
	}
	return by, nil
}

func atMostOne(env *simtest.Env) error {
	by, err := owned(env)
	if err != nil {
		return err
	}
	for _, ds := range by {
		if len(ds) > 1 {
			return fmt.Errorf("%s has %d Deployments", metav1.GetControllerOf(&ds[0]).Name, len(ds))
		}
	}
	return nil
}

func served(env *simtest.Env) error {
	by, err := owned(env)
	if err != nil {
		return err
	}
	var sites website.WebsiteList
	if err := env.List(&sites, ""); err != nil {
		return err
	}
	if len(by) > len(sites.Items) {
		return fmt.Errorf("%d of %d Websites have Deployments", len(by), len(sites.Items))
	}
	for _, site := range sites.Items {
		ds := by[site.UID]
		if len(ds) != 1 {
			return fmt.Errorf("%s has %d Deployments", site.Name, len(ds))
		}
		spec := ds[0].Spec
		if *spec.Replicas != site.Spec.Replicas || spec.Template.Spec.Containers[0].Image != site.Spec.Image {
			return fmt.Errorf("%s: want %+v, got %d × %s", site.Name, site.Spec, *spec.Replicas, spec.Template.Spec.Containers[0].Image)
		}
		if !site.Status.Ready || site.Status.ObservedGeneration != site.Generation {
			return fmt.Errorf("%s at generation %d has status %+v", site.Name, site.Generation, site.Status)
		}
	}
	return nil
}

func TestReconciler(t *testing.T) {
	simtest.Run(t, options, testReconciler(website.Mistakes{}))
}
