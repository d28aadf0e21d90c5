package rest_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	clientrest "k8s.io/client-go/rest"

	"github.com/informersim/informersim/fakeapiserver"
	kinds "github.com/informersim/informersim/fakeapiserver/builtin"
	fakerest "github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/sim"
)

// warned collects the warnings of a client.
type warned struct{ texts []string }

func (w *warned) HandleWarningHeader(_ int, _, text string) { w.texts = append(w.texts, text) }

// The labels of a namespace say which Pods are refused there, and which are warned of.
func TestPodSecurity(t *testing.T) {
	k := sim.NewKernel(sim.Options{Seed: 1, Strategy: sim.NewFIFO()})
	reg := types.NewRegistry()
	if err := reg.Add(kinds.Resources(kinds.Options{})...); err != nil {
		t.Fatal(err)
	}
	api, err := fakerest.New(fakerest.Options{Cluster: fakeapiserver.NewCluster(k, fakeapiserver.ClusterOptions{}), Types: reg})
	if err != nil {
		t.Fatal(err)
	}
	pump := transport.NewPump(k, func(err error) { t.Error(err) })
	t.Cleanup(pump.Stop)
	warnings := &warned{}
	c, err := kubernetes.NewForConfig(&clientrest.Config{Host: "http://sim", QPS: -1, Transport: &transport.RoundTripper{Driver: pump, API: api}, WarningHandler: warnings})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	pod := func(name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: onePod}
	}
	privileged := pod("host")
	privileged.Spec.HostNetwork = true
	if _, err := c.CoreV1().Pods("strict").Create(ctx, privileged, metav1.CreateOptions{}); err != nil {
		t.Errorf("in a namespace without an object: %v", err)
	}
	_, err = c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "strict", Labels: map[string]string{
		"pod-security.kubernetes.io/enforce": "baseline", "pod-security.kubernetes.io/warn": "restricted",
	}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	again := privileged.DeepCopy()
	again.Name = "again"
	const refused = `pods "again" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`
	if _, err := c.CoreV1().Pods("strict").Create(ctx, again, metav1.CreateOptions{}); !apierrors.IsForbidden(err) || !strings.HasPrefix(err.Error(), refused) {
		t.Errorf("a Pod that is refused: %v", err)
	}
	warnings.texts = nil
	if _, err := c.CoreV1().Pods("strict").Create(ctx, pod("plain"), metav1.CreateOptions{}); err != nil {
		t.Errorf("a Pod that is warned of: %v", err)
	}
	if len(warnings.texts) != 1 || !strings.HasPrefix(warnings.texts[0], `would violate PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "c"`) {
		t.Errorf("the warnings are %q", warnings.texts)
	}
	warnings.texts = nil
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}, Spec: privileged.Spec},
	}}
	if _, err := c.AppsV1().Deployments("strict").Create(ctx, d, metav1.CreateOptions{}); err != nil || len(warnings.texts) == 0 {
		t.Errorf("a template is warned of, and not refused: %v, %q", err, warnings.texts)
	}
}
