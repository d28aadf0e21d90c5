package controllerruntime_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	controllerruntime "github.com/informersim/informersim/wild/controller-runtime"
)

// note writes a Deployment's UID into the ConfigMap of its name.
func note(c client.Client) reconcile.Func {
	return func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
		d := &appsv1.Deployment{}
		if err := c.Get(ctx, r.NamespacedName, d); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		m := &corev1.ConfigMap{}
		err := c.Get(ctx, r.NamespacedName, m)
		uid := map[string]string{"uid": string(d.UID)}
		switch {
		case apierrors.IsNotFound(err):
			return reconcile.Result{}, c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name}, Data: uid})
		case err != nil || m.Data["uid"] == uid["uid"]:
			return reconcile.Result{}, err
		}
		m = m.DeepCopy()
		m.Data = uid
		return reconcile.Result{}, c.Update(ctx, m)
	}
}

const lastNoted = "the Deployment that is there is noted"

func web() *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}},
	}
}

// notes starts the controller.
func notes(env *simtest.Env, others ...predicate.Predicate) {
	env.Go("manager", func(ctx context.Context) error {
		return controllerruntime.RunOfGenerations(ctx, env.RESTConfig("manager"), note, others...)
	})
}

// recreates deletes a Deployment and creates it again, while a controller runs.
func recreates(others ...predicate.Predicate) func(*simtest.Env) {
	return func(env *simtest.Env) {
		notes(env, others...)
		noted := func() error {
			d, m := web(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
			if err := env.Get(d); err != nil {
				return err
			}
			if err := env.Get(m); err != nil {
				return err
			}
			if m.Data["uid"] != string(d.UID) {
				return fmt.Errorf("deployments default/web has the UID %s, and configmaps default/web says %s", d.UID, m.Data["uid"])
			}
			return nil
		}
		env.Create(web())
		env.Eventually("the first Deployment is noted", time.Hour, noted)
		env.Inject(fault.Fault{Kind: fault.Watch410, Target: "manager", Resource: "deployments", Count: 1}) // so that it lists them anew
		env.Delete(web())
		env.Create(web())
		env.StopFaults()
		env.Eventually(lastNoted, time.Hour, noted)
	}
}

// A Deployment that is deleted and created again while no watch is open is an update to the informer, from generation 1 to generation 1:
// GenerationChangedPredicate leaves it out, and nobody reconciles the new Deployment.
func TestRecreatedIsLeftOut(t *testing.T) {
	found := simtest.Find(t, simtest.Options{Seeds: 100, Mix: "none"}, recreates())
	if found == nil {
		t.Fatal("not found: has controller-runtime been mended?")
	}
	if found.Property != lastNoted || !strings.Contains(found.Message, "configmaps default/web says") {
		t.Errorf("something else was found:\n%s", found)
	}
	t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
}

// The ready-made properties find it in a test that recreates nothing, and says nothing of what it expects.
func TestNothingIsRecreated(t *testing.T) {
	creates := func(others ...predicate.Predicate) func(*simtest.Env) {
		return func(env *simtest.Env) {
			notes(env, others...)
			env.Create(web())
			env.Advance(time.Minute)
		}
	}
	o := simtest.Options{Properties: simtest.WellBehaved()}
	found := simtest.Find(t, o, creates())
	if found == nil {
		t.Fatal("not found: has controller-runtime been mended?")
	}
	if found.Property != simtest.NoLostReplacement || !strings.Contains(found.Message, "somebody had deleted deployments default/web and made it anew") {
		t.Errorf("something else was found:\n%s", found)
	}
	t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
	simtest.Run(t, o, creates(ofUIDs()))
}

// With a predicate that looks at the UID, every one is reconciled.
func TestRecreatedIsReconciled(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 100, Mix: "none"}, recreates(ofUIDs()))
}

// ofUIDs is a predicate of updates that bring another object of the name.
func ofUIDs() predicate.Predicate {
	another := predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return e.ObjectOld.GetUID() != e.ObjectNew.GetUID() }}
	another.CreateFunc = func(event.CreateEvent) bool { return false } // as the other says
	return another
}
