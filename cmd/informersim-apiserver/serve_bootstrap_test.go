package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/persistence"
)

// A fresh cluster has what a real one has; --bare has none of it.
func TestServeFresh(t *testing.T) {
	t.Chdir(t.TempDir())
	p := serveFresh(t)
	c, ctx := p.client(), t.Context()
	namespaces, err := c.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, ns := range namespaces.Items {
		names = append(names, ns.Name)
		if ns.Labels[corev1.LabelMetadataName] != ns.Name || ns.Status.Phase != corev1.NamespaceActive || !slices.Equal(ns.Spec.Finalizers, []corev1.FinalizerName{corev1.FinalizerKubernetes}) {
			t.Errorf("the namespace %s is %+v", ns.Name, ns)
		}
	}
	if got := strings.Join(names, " "); got != "default kube-node-lease kube-public kube-system" {
		t.Errorf("the namespaces are %s", got)
	}
	service, err := c.CoreV1().Services("default").Get(ctx, "kubernetes", metav1.GetOptions{})
	if err != nil || service.Spec.ClusterIP != "10.0.0.1" || service.ManagedFields[0].Manager != "kube-apiserver" || !strings.HasSuffix(p.root, ":"+service.Spec.Ports[0].TargetPort.String()) {
		t.Errorf("the service of %s is %+v, %v", p.root, service, err)
	}
	for path, want := range map[string]string{
		"/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical":                                           `"value":2000001000`,
		"/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/exempt":                                                  `"type":"Dangling","status":"False"`,
		"/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/exempt":                                  `"type":"Exempt"`,
		"/apis/networking.k8s.io/v1/servicecidrs/kubernetes":                                                        `"type":"Ready","status":"True"`,
		"/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin":                                             `"kubernetes.io/bootstrapping":"rbac-defaults"`,
		"/apis/rbac.authorization.k8s.io/v1/namespaces/kube-public/rolebindings/system:controller:bootstrap-signer": `"kind":"Role"`,
		"/apis/networking.k8s.io/v1/ipaddresses/10.0.0.1":                                                           `"name":"kubernetes"`,
	} {
		p.want(200, want, "GET", path, "")
	}
	p.interrupt()
	p = serveIn(t)
	p.want(200, `"items":[]`, "GET", "/api/v1/namespaces", "")
	p.want(201, "", "POST", "/api/v1/namespaces/nowhere/configmaps", `{"metadata":{"name":"m"}}`)
	p.interrupt()
}

// Namespaces live and die as in a real cluster (S39, S40).
func TestS39S40NamespaceLifecycle(t *testing.T) {
	p := serveFresh(t)
	c, ctx := p.client(), t.Context()
	held := func(namespace string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "m", Finalizers: []string{"probe.dev/hold"}}}
	}
	_, err := c.CoreV1().ConfigMaps("x").Create(ctx, held("x"), metav1.CreateOptions{})
	if !apierrors.IsNotFound(err) || err.Error() != `namespaces "x" not found` {
		t.Errorf("a create in a missing namespace: %v", err)
	}
	for _, name := range []string{"default", "kube-system", "kube-public"} {
		if err := c.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("delete of %s: %v", name, err)
		}
	}
	if _, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err = c.CoreV1().ConfigMaps("x").Create(ctx, held("x"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// A dry run deletes nothing.
	if err := c.CoreV1().Namespaces().Delete(ctx, "x", metav1.DeleteOptions{DryRun: []string{"All"}}); err != nil {
		t.Error(err)
	}
	if ns, err := c.CoreV1().Namespaces().Get(ctx, "x", metav1.GetOptions{}); err != nil || ns.DeletionTimestamp != nil {
		t.Errorf("after a dry run: %+v, %v", ns, err)
	}
	if err := c.CoreV1().Namespaces().Delete(ctx, "x", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err = c.CoreV1().ConfigMaps("x").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, metav1.CreateOptions{})
	if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || !strings.Contains(err.Error(), "unable to create new content in namespace x because it is being terminated") {
		t.Errorf("a create in a terminating namespace: %v", err)
	}
	p.until(func() bool {
		ns, err := c.CoreV1().Namespaces().Get(ctx, "x", metav1.GetOptions{})
		return err == nil && ns.Status.Phase == corev1.NamespaceTerminating && ns.DeletionGracePeriodSeconds == nil && slices.ContainsFunc(ns.Status.Conditions, func(c corev1.NamespaceCondition) bool {
			return c.Type == corev1.NamespaceFinalizersRemaining && c.Message == "Some content in the namespace has finalizers remaining: probe.dev/hold in 1 resource instances"
		})
	})
	if _, err := c.CoreV1().ConfigMaps("x").Patch(ctx, "m", "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	p.until(func() bool {
		_, err := c.CoreV1().Namespaces().Get(ctx, "x", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	p.interrupt()
}

// Without the namespace controller a namespace stays until a client finalizes it.
func TestServeFinalize(t *testing.T) {
	oneRequestAtATime(t)
	p := serveFresh(t, "--controllers", "garbage-collector")
	c, ctx := p.client(), t.Context()
	ns, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.CoreV1().Namespaces().Delete(ctx, "x", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	p.want(200, `"phase":"Terminating"`, "GET", "/api/v1/namespaces/x", "")
	ns.Spec.Finalizers, ns.ResourceVersion = nil, ""
	if _, err := c.CoreV1().Namespaces().Finalize(ctx, ns, metav1.UpdateOptions{}); err != nil {
		t.Error(err)
	}
	p.want(404, "", "GET", "/api/v1/namespaces/x", "")
	p.interrupt()
}

// With its controller, every namespace gets a ServiceAccount, and gets it again.
func TestServeServiceAccounts(t *testing.T) {
	p := serveFresh(t, "--controllers", "namespace,serviceaccount")
	c, ctx := p.client(), t.Context()
	if _, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"default", "kube-system", "x"} {
		p.until(func() bool {
			_, err := c.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
			return err == nil
		})
	}
	was, err := c.CoreV1().ServiceAccounts("x").Get(ctx, "default", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.CoreV1().ServiceAccounts("x").Delete(ctx, "default", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p.until(func() bool {
		again, err := c.CoreV1().ServiceAccounts("x").Get(ctx, "default", metav1.GetOptions{})
		return err == nil && again.UID != was.UID
	})
	// It does not keep its namespace from being deleted.
	if err := c.CoreV1().Namespaces().Delete(ctx, "x", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p.until(func() bool {
		_, err := c.CoreV1().Namespaces().Get(ctx, "x", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	p.interrupt()
}

// A session keeps its fresh cluster, also one that had none when it began.
func TestServeFreshData(t *testing.T) {
	oneRequestAtATime(t)
	t.Chdir(t.TempDir())
	p := serveIn(t, "--data", "session.db")
	p.want(201, "", "POST", "/api/v1/namespaces/nowhere/configmaps", `{"metadata":{"name":"m"}}`)
	p.interrupt()
	p = serveFresh(t, "--data", "session.db")
	p.want(200, `"name":"m"`, "GET", "/api/v1/namespaces/nowhere/configmaps/m", "")
	p.want(404, `namespaces \"nowhere\" not found`, "POST", "/api/v1/namespaces/nowhere/configmaps", `{"metadata":{"name":"n"}}`)
	before := p.want(200, "kubernetes.io/metadata.name", "GET", "/api/v1/namespaces/default", "")
	p.interrupt()
	p = serveFresh(t, "--data", "session.db")
	if after := p.want(200, "", "GET", "/api/v1/namespaces/default", ""); after != before {
		t.Errorf("a restart changes a namespace:\n%s\n%s", before, after)
	}
	p.interrupt()
}

// A session from before there was one store of events, and before there were defaults, is read as if it had been written now.
func TestServeOldSession(t *testing.T) {
	oneRequestAtATime(t)
	t.Chdir(t.TempDir())
	file, _, err := persistence.Open("session.db")
	if err != nil {
		t.Fatal(err)
	}
	for i, object := range []struct{ key, version, json string }{
		{"events.events.k8s.io/default/e", "v1", `{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"namespace":"default","name":"e","uid":"1","resourceVersion":"1001"},"note":"n","regarding":{"kind":"Pod","name":"p"},"eventTime":null}`},
		{"configmaps/default/m", "v1", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":"m","uid":"2","resourceVersion":"1002"}}`},
		{"clustertrustbundles.certificates.k8s.io/b", "v1", `{"apiVersion":"certificates.k8s.io/v1","kind":"ClusterTrustBundle","metadata":{"name":"b","uid":"3","resourceVersion":"1003"},"spec":{"trustBundle":"x"}}`},
		{"namespaces/default", "v1", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default","uid":"4","resourceVersion":"1004"},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}}`},
	} {
		rev := int64(1001 + i)
		value := fmt.Sprintf(`{"revision":%d,"version":%q,"object":%s}`, rev, object.version, object.json)
		if err := file.Write(persistence.Change{Revision: rev, Key: []byte("object/" + object.key), Value: []byte(value)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		t.Fatal(err)
	}
	p := serveFresh(t, "--data", "session.db")
	p.want(200, `"message":"n"`, "GET", "/api/v1/namespaces/default/events/e", "")
	p.want(200, `"note":"n"`, "GET", "/apis/events.k8s.io/v1/namespaces/default/events/e", "")
	p.want(200, `"resourceVersion":"1002"`, "GET", "/api/v1/namespaces/default/configmaps/m", "")
	p.want(200, `"trustBundle":"x"`, "GET", "/apis/certificates.k8s.io/v1/clustertrustbundles/b", "")
	p.want(200, `"labels":{"kubernetes.io/metadata.name":"default"}`, "GET", "/api/v1/namespaces/default", "")
	p.interrupt()
}

// until waits for a condition that must come true.
func (p *serving) until(holds func() bool) {
	p.t.Helper()
	for range 600 {
		if holds() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.t.Fatal("it does not come true within half a minute")
}
