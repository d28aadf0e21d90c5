package main

import (
	"encoding/json"
	"slices"
	"strings"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// podTemplate is that of Pods with the label app=NAME.
func podTemplate(app string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

// deploy creates a Deployment and waits until its Pods are available.
func (p *serving) deploy(name string, replicas int32) *appsv1.Deployment {
	p.t.Helper()
	all := p.client().AppsV1().Deployments("default")
	_, err := all.Create(p.t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}, Template: podTemplate(name)},
	}, metav1.CreateOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	var d *appsv1.Deployment
	eventually(p.t, "the Deployment is available", func() bool {
		d, err = all.Get(p.t.Context(), name, metav1.GetOptions{})
		return err == nil && d.Status.AvailableReplicas == replicas && d.Status.ObservedGeneration == d.Generation
	})
	return d
}

// Kubernetes' controllers do with nodes what they do in a cluster; each is a client at which a fault can be aimed; and what they have to do
// survives a lost answer.
func TestServeWorkloads(t *testing.T) {
	t.Parallel() // it waits for controllers
	p := serveFresh(t, "--nodes", "2", "--control", "127.0.0.1:0")
	t.Cleanup(p.kill)
	c, ctx := p.client(), t.Context()
	p.deploy("web", 2)
	sets, err := c.AppsV1().ReplicaSets("default").List(ctx, metav1.ListOptions{})
	if err != nil || len(sets.Items) != 1 || len(sets.Items[0].ManagedFields) == 0 || sets.Items[0].ManagedFields[0].Manager != "kube-controller-manager" {
		t.Fatalf("%+v, %v", sets, err)
	}

	p.want(200, "", "POST", "control:/fault", `{"kind":"write-lost","target":"replicaset-controller","resource":"pods","count":1}`)
	if _, err := c.AppsV1().Deployments("default").Patch(ctx, "web", "application/merge-patch+json", []byte(`{"spec":{"replicas":3}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	pods := func() *corev1.PodList {
		all, err := c.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	eventually(t, "three Pods are ready", func() bool {
		d, err := c.AppsV1().Deployments("default").Get(ctx, "web", metav1.GetOptions{})
		return err == nil && d.Status.ReadyReplicas == 3 && len(pods().Items) == 3
	})
	if waiting := p.want(200, "", "GET", "control:/faults", ""); strings.Contains(waiting, "write-lost") {
		t.Errorf("the fault has hit nobody: %s", waiting)
	}
	var clients []listedClient
	if err := json.Unmarshal([]byte(p.want(200, "", "GET", "control:/clients", "")), &clients); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"deployment-controller", "replicaset-controller", "shared-informers"} {
		if !slices.ContainsFunc(clients, func(c listedClient) bool { return c.Name == name && c.Requests > 0 }) {
			t.Errorf("no client is %s: %+v", name, clients)
		}
	}

	// A budget is kept up to date, and evictions honour it.
	budgets := c.PolicyV1().PodDisruptionBudgets("default")
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: policyv1.PodDisruptionBudgetSpec{
		MinAvailable: ptr.To(intstr.FromInt32(3)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
	}}
	if _, err := budgets.Create(ctx, budget, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the budget has a status", func() bool {
		b, err := budgets.Get(ctx, "web", metav1.GetOptions{})
		return err == nil && b.Status.CurrentHealthy == 3 && b.Status.DesiredHealthy == 3 && b.Status.ObservedGeneration == 1
	})
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: pods().Items[0].Name}}
	if err := c.PolicyV1().Evictions("default").Evict(ctx, eviction); !apierrors.IsTooManyRequests(err) {
		t.Errorf("an eviction beyond the budget: %v", err)
	}
	if err := budgets.Delete(ctx, "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.PolicyV1().Evictions("default").Evict(ctx, eviction); err != nil {
		t.Error(err)
	}
	eventually(t, "another Pod takes its place", func() bool {
		all := pods().Items
		return len(all) == 3 && !slices.ContainsFunc(all, func(p corev1.Pod) bool { return p.Name == eviction.Name || p.Status.Phase != corev1.PodRunning })
	})
}

// Jobs complete, a StatefulSet counts up, a DaemonSet has a Pod on each node, a Service its endpoints; and a namespace with all of that goes.
func TestServeEveryWorkload(t *testing.T) {
	t.Parallel() // it waits for controllers
	p := serveFresh(t, "--nodes", "2")
	t.Cleanup(p.kill)
	c, ctx := p.client(), t.Context()
	if _, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	made := func(what string, err error) {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	once := podTemplate("once")
	once.Spec.RestartPolicy = corev1.RestartPolicyNever
	_, err := c.BatchV1().Jobs("a").Create(ctx, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "once"}, Spec: batchv1.JobSpec{Template: once}}, metav1.CreateOptions{})
	made("Job", err)
	_, err = c.BatchV1().CronJobs("a").Create(ctx, &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "now"},
		Spec:       batchv1.CronJobSpec{Schedule: "* * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: once}}, Suspend: ptr.To(true)},
	}, metav1.CreateOptions{})
	made("CronJob", err)
	selector := func(app string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	}
	_, err = c.AppsV1().StatefulSets("a").Create(ctx, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "db"}, Spec: appsv1.StatefulSetSpec{
		Replicas: ptr.To[int32](2), ServiceName: "db", Selector: selector("db"), Template: podTemplate("db"),
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("1Gi")}},
		}}},
	}}, metav1.CreateOptions{})
	made("StatefulSet", err)
	_, err = c.CoreV1().Services("a").Create(ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "db"}, Spec: corev1.ServiceSpec{
		ClusterIP: "None", Selector: map[string]string{"app": "db"}, Ports: []corev1.ServicePort{{Port: 5432}},
	}}, metav1.CreateOptions{})
	made("Service", err)
	_, err = c.AppsV1().DaemonSets("a").Create(ctx, &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "agent"}, Spec: appsv1.DaemonSetSpec{Selector: selector("agent"), Template: podTemplate("agent")}}, metav1.CreateOptions{})
	made("DaemonSet", err)
	_, err = c.CoreV1().ReplicationControllers("a").Create(ctx, &corev1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Name: "old"}, Spec: corev1.ReplicationControllerSpec{Replicas: ptr.To[int32](1), Template: ptr.To(podTemplate("old"))}}, metav1.CreateOptions{})
	made("ReplicationController", err)

	eventually(t, "the Job completes", func() bool {
		j, err := c.BatchV1().Jobs("a").Get(ctx, "once", metav1.GetOptions{})
		return err == nil && j.Status.Succeeded == 1 && j.Status.CompletionTime != nil
	})
	eventually(t, "the StatefulSet is ready", func() bool {
		s, err := c.AppsV1().StatefulSets("a").Get(ctx, "db", metav1.GetOptions{})
		return err == nil && s.Status.ReadyReplicas == 2
	})
	for _, name := range []string{"db-0", "db-1"} {
		if _, err := c.CoreV1().Pods("a").Get(ctx, name, metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	}
	eventually(t, "the Service has endpoints", func() bool {
		all, err := c.DiscoveryV1().EndpointSlices("a").List(ctx, metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=db"})
		return err == nil && len(all.Items) == 1 && len(all.Items[0].Endpoints) == 2
	})
	eventually(t, "the DaemonSet is ready", func() bool {
		d, err := c.AppsV1().DaemonSets("a").Get(ctx, "agent", metav1.GetOptions{})
		return err == nil && d.Status.NumberReady == 2
	})
	eventually(t, "the ReplicationController is ready", func() bool {
		r, err := c.CoreV1().ReplicationControllers("a").Get(ctx, "old", metav1.GetOptions{})
		return err == nil && r.Status.ReadyReplicas == 1
	})
	if err := c.CoreV1().Namespaces().Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the namespace is gone", func() bool {
		_, err := c.CoreV1().Namespaces().Get(ctx, "a", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

// Ctrl-C ends a server whose controllers are at work, and nobody complains. Without --controllers and --nodes none of them is a client.
func TestServeWorkloadsEnd(t *testing.T) {
	t.Parallel() // it waits for controllers
	p := serveFresh(t, "--nodes", "1")
	p.deploy("web", 3)
	p.ends(syscall.SIGINT)

	p = serveFresh(t, "--control", "127.0.0.1:0")
	if answer := p.want(200, "", "GET", "control:/clients", ""); strings.Contains(answer, "shared-informers") {
		t.Errorf("controllers run that nobody asked for: %s", answer)
	}
	p.ends(syscall.SIGINT)
}
