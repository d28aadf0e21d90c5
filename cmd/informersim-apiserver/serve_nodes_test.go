package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Pods get a node and become ready, also after a restart with the same file; a stage that does not fit is reported and harms nothing else.
func TestServeNodes(t *testing.T) {
	t.Parallel() // it waits for controllers
	dir := t.TempDir()
	file := filepath.Join(dir, "stages.yaml")
	const text = `apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: fill}
spec:
  resourceRef: {apiGroup: v1, kind: ConfigMap}
  selector: {matchExpressions: [{key: .data, operator: DoesNotExist}]}
  next: {patches: [{template: "{data: {a: b}}"}]}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: misfit}
spec:
  resourceRef: {apiGroup: v1, kind: Secret}
  next: {patches: [{template: "{type: {}}"}]}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--nodes", "2", "--stages", "pod," + file, "--data", filepath.Join(dir, "data")}
	for i, name := range []string{"a", "b"} {
		s := serveIn(t, args...)
		c := kubernetes.NewForConfigOrDie(&rest.Config{Host: s.root}).CoreV1()
		pods := c.Pods("default")
		_, err := pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Secrets("default").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the Pods run", func() bool {
			all, err := pods.List(t.Context(), metav1.ListOptions{})
			running := 0
			for _, p := range all.Items {
				if p.Status.Phase == corev1.PodRunning && strings.HasPrefix(p.Spec.NodeName, "node-") {
					running++
				}
			}
			return err == nil && running == i+1
		})
		eventually(t, "the ConfigMap is filled", func() bool {
			m, err := c.ConfigMaps("default").Get(t.Context(), name, metav1.GetOptions{})
			return err == nil && m.Data["a"] == "b"
		})
		s.interrupt()
		if want := "stages: Secret default/" + name + ": a stage makes it no Secret: "; !strings.Contains(s.stderr.String(), want) {
			t.Errorf("it says %q, want %q", s.stderr, want)
		}
	}
}

func eventually(t *testing.T, what string, hold func() bool) {
	t.Helper()
	for range 600 {
		if hold() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s: not within 30 s", what)
}

func TestServeRefusesStages(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("apiVersion: v1\nkind: Pod\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ args, want string }{
		{"--nodes -1", "--nodes -1 is out of range: 0 to 1000"},
		{"--stages gpu", `--stages: there is no set of stages "gpu": there are pod, pod-faults, node-faults, workload and workload-faults`},
		{"--stages " + bad, bad + `:1: apiVersion "v1", kind "Pod": want kwok.x-k8s.io/v1alpha1, Stage`},
		{"--nodes 1 --stages pod,workload", "--stages workload stands in for controllers that run here, too: deployment, replicaset, statefulset, daemonset, job; leave them out, with --controllers namespace"},
		{"--controllers job --stages workload", "that run here, too: job; leave them out"},
		{"--stages ./none.yaml", "--stages: open ./none.yaml: no such file"},
	} {
		if o := command(t, append([]string{"serve"}, strings.Fields(test.args)...)...); o.code != 2 || !strings.Contains(o.stderr, test.want) {
			t.Errorf("%s: %d, %q, want %q", test.args, o.code, o.stderr, test.want)
		}
	}
}
