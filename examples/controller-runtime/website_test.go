package website_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	website "github.com/informersim/informersim/examples/controller-runtime"
	"github.com/informersim/informersim/simtest"
)

var options = simtest.Options{
	CRDs: []string{"crd.yaml"}, Scheme: website.NewScheme(), Replicas: 2, Seeds: 200, Crashes: 0.002,
}

// testReconciler creates and changes Websites while the manager runs and things go wrong. No Website ever has two Deployments, and
// in the end each has one that is as the Website says.
func testReconciler(mistakes website.Mistakes) func(env *simtest.Env) {
	return func(env *simtest.Env) {
		env.Go("manager", func(ctx context.Context) error { return website.Run(ctx, env.RESTConfig("manager"), mistakes) })
		env.Always("a Website has one Deployment at most", func() error { return atMostOne(env) })
		for i := range 10 {
			site := &website.Website{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("site-%d", env.Rand().IntN(3))},
				Spec:       website.WebsiteSpec{Image: fmt.Sprintf("image:%d", i), Replicas: int32(env.Rand().IntN(5))},
			}
			if env.Get(site.DeepCopyObject().(*website.Website)) != nil {
				env.Create(site)
			} else {
				env.Update(site)
			}
			env.Advance(time.Duration(env.Rand().IntN(10_000)) * time.Millisecond)
		}
		env.StopFaults()
		env.Eventually("every Website is served as it says", 30*time.Minute, func() error { return served(env) })
	}
}

// owned are the Deployments by the Website that owns them.
func owned(env *simtest.Env) (map[string][]appsv1.Deployment, error) {
	var all appsv1.DeploymentList
	if err := env.List(&all, ""); err != nil {
		return nil, err
	}
	by := map[string][]appsv1.Deployment{}
	for _, d := range all.Items {
		if owner := metav1.GetControllerOf(&d); owner != nil {
			by[owner.Name] = append(by[owner.Name], d)
		}
	}
	return by, nil
}

func atMostOne(env *simtest.Env) error {
	by, err := owned(env)
	if err != nil {
		return err
	}
	for _, site := range []string{"site-0", "site-1", "site-2"} {
		if n := len(by[site]); n > 1 {
			return fmt.Errorf("%s has %d Deployments", site, n)
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
	for _, site := range sites.Items {
		ds := by[site.Name]
		if len(ds) != 1 {
			return fmt.Errorf("%s has %d Deployments", site.Name, len(ds))
		}
		spec := ds[0].Spec
		if *spec.Replicas != site.Spec.Replicas || spec.Template.Spec.Containers[0].Image != site.Spec.Image {
			return fmt.Errorf("%s is to be %+v, and is %d × %s", site.Name, site.Spec, *spec.Replicas, spec.Template.Spec.Containers[0].Image)
		}
		if !site.Status.Ready || site.Status.ObservedGeneration != site.Generation {
			return fmt.Errorf("%s at generation %d says %+v", site.Name, site.Generation, site.Status)
		}
	}
	return nil
}

func TestReconciler(t *testing.T) {
	simtest.Run(t, options, testReconciler(website.Mistakes{}))
}

// The same test finds each mistake, within the seeds that it has.
func TestMistakesAreFound(t *testing.T) {
	for name, test := range map[string]struct {
		mistakes website.Mistakes
		by       []string
	}{
		"a stale cache is believed": {website.Mistakes{GenerateName: true}, []string{"a Website has one Deployment at most"}},
		"done is said too early":    {website.Mistakes{StatusFirst: true}, []string{"every Website is served as it says"}},
	} {
		t.Run(name, func(t *testing.T) {
			found := simtest.Find(t, options, testReconciler(test.mistakes))
			if found == nil {
				t.Fatalf("not found with %d seeds", options.Seeds)
			}
			if !slices.Contains(test.by, found.Property) {
				t.Errorf("something else was found:\n%s", found)
			}
			t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
		})
	}
}
