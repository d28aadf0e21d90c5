package rest_test

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informersim/informersim/fakeapiserver"
	kinds "github.com/informersim/informersim/fakeapiserver/builtin"
	fakerest "github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/sim"
)

// newClient returns a client-go clientset for a fake apiserver in real time.
func newClient(t *testing.T) *kubernetes.Clientset {
	t.Helper()
	return newClientOf(t, kinds.Options{})
}

// newClientOf returns one whose built-in kinds have options.
func newClientOf(t *testing.T, o kinds.Options) *kubernetes.Clientset {
	t.Helper()
	k := sim.NewKernel(sim.Options{Seed: 1, Strategy: sim.NewFIFO()})
	cluster := fakeapiserver.NewCluster(k, fakeapiserver.ClusterOptions{})
	reg := types.NewRegistry()
	if err := reg.Add(kinds.Resources(o)...); err != nil {
		t.Fatal(err)
	}
	api, err := fakerest.New(fakerest.Options{Cluster: cluster, Types: reg})
	if err != nil {
		t.Fatal(err)
	}
	pump := transport.NewPump(k, func(err error) { t.Error(err) })
	t.Cleanup(pump.Stop)
	c, err := kubernetes.NewForConfig(&rest.Config{
		Host: "http://sim", QPS: -1, Transport: &transport.RoundTripper{Driver: pump, API: api},
		ContentConfig: rest.ContentConfig{ContentType: "application/json"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// onePod is the least that a Pod must have.
var onePod = corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "c"}}}

func TestClientset(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c := newClient(t)
	pods := c.CoreV1().Pods("default")
	w, err := pods.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	a, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"app": "x"}}, Spec: onePod}, metav1.CreateOptions{})
	if err != nil || a.UID == "" || a.ResourceVersion == "" || a.Namespace != "default" || a.CreationTimestamp.IsZero() {
		t.Fatalf("create: %+v, %v", a, err)
	}
	if _, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: onePod}, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("creating it again: %v", err)
	}
	got, err := pods.Get(ctx, "a", metav1.GetOptions{})
	if err != nil || got.UID != a.UID {
		t.Fatalf("get: %+v, %v", got, err)
	}
	if _, err := pods.Get(ctx, "b", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("getting a missing object: %v", err)
	}
	got.Labels["app"] = "y"
	updated, err := pods.Update(ctx, got, metav1.UpdateOptions{})
	if err != nil || updated.ResourceVersion == a.ResourceVersion {
		t.Fatalf("update: %+v, %v", updated, err)
	}
	got.Labels["app"] = "z" // based on the previous version
	if _, err := pods.Update(ctx, got, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("a stale update: %v", err)
	}
	patched, err := pods.Patch(ctx, "a", apitypes.StrategicMergePatchType, []byte(`{"metadata":{"annotations":{"k":"v"}}}`), metav1.PatchOptions{})
	if err != nil || patched.Annotations["k"] != "v" {
		t.Fatalf("patch: %+v, %v", patched, err)
	}
	list, err := pods.List(ctx, metav1.ListOptions{LabelSelector: "app=y"})
	if err != nil || len(list.Items) != 1 || list.Items[0].Annotations["k"] != "v" {
		t.Fatalf("list: %+v, %v", list, err)
	}
	zero := int64(0)
	if err := pods.Delete(ctx, "a", metav1.DeleteOptions{GracePeriodSeconds: &zero}); err != nil {
		t.Fatalf("delete: %v", err)
	}
	for _, want := range []string{"ADDED", "MODIFIED", "MODIFIED", "MODIFIED", "DELETED"} { // a Pod's delete first says that it is deleted
		select {
		case e := <-w.ResultChan():
			if string(e.Type) != want {
				t.Fatalf("the watch shows %s, want %s", e.Type, want)
			}
		case <-ctx.Done():
			t.Fatalf("the watch does not show %s", want)
		}
	}
}

func TestStatusAndScale(t *testing.T) {
	ctx := context.Background()
	deployments := newClient(t).AppsV1().Deployments("default")
	one, labels := int32(1), map[string]string{"a": "b"}
	d, err := deployments.Create(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: appsv1.DeploymentSpec{
		Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: onePod},
	}}, metav1.CreateOptions{})
	if err != nil || d.Generation != 1 {
		t.Fatalf("create: %+v, %v", d, err)
	}
	d.Status.Replicas = 7
	three := int32(3)
	d.Spec.Replicas = &three
	if d, err = deployments.UpdateStatus(ctx, d, metav1.UpdateOptions{}); err != nil || d.Status.Replicas != 7 || *d.Spec.Replicas != 1 || d.Generation != 1 {
		t.Fatalf("a write of the status changes the status alone: %+v, %v", d, err)
	}
	s, err := deployments.GetScale(ctx, "d", metav1.GetOptions{})
	if err != nil || s.Spec.Replicas != 1 {
		t.Fatalf("scale: %+v, %v", s, err)
	}
	s.Spec.Replicas = 5
	if s, err = deployments.UpdateScale(ctx, "d", s, metav1.UpdateOptions{}); err != nil || s.Spec.Replicas != 5 {
		t.Fatalf("writing the scale: %+v, %v", s, err)
	}
	if d, err = deployments.Get(ctx, "d", metav1.GetOptions{}); err != nil || *d.Spec.Replicas != 5 || d.Generation != 2 {
		t.Fatalf("after the scale: %+v, %v", d, err)
	}
}

func TestDiscovery(t *testing.T) {
	d := newClient(t).Discovery()
	v, err := d.ServerVersion()
	if err != nil || v.Minor != "37" {
		t.Fatalf("version: %+v, %v", v, err)
	}
	_, lists, err := d.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, l := range lists {
		for _, r := range l.APIResources {
			found[l.GroupVersion+" "+r.Name] = r.Kind
		}
	}
	for name, kind := range map[string]string{"v1 pods": "Pod", "v1 pods/status": "Pod", "apps/v1 deployments/scale": "Scale", "batch/v1 jobs": "Job"} {
		if found[name] != kind {
			t.Errorf("%s is of kind %q, want %q", name, found[name], kind)
		}
	}
}
