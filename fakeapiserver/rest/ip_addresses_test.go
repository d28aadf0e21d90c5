package rest_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kinds "github.com/informersim/informersim/fakeapiserver/builtin"
)

func revision(t *testing.T, m metav1.Object) int64 {
	t.Helper()
	n, err := strconv.ParseInt(m.GetResourceVersion(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A cluster IP has its IPAddress: made just before the Service, and deleted once the Service lets it go or is gone. A dry run and a refused
// write leave none.
func TestIPAddresses(t *testing.T) {
	ctx, c := t.Context(), newClientOf(t, kinds.Options{IPAddresses: true})
	services, addresses := c.CoreV1().Services("default"), c.NetworkingV1().IPAddresses()
	names := func() (all []string) {
		list, err := addresses.List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list.Items {
			all = append(all, a.Name)
		}
		return all
	}
	ports := []corev1.ServicePort{{Port: 80}}
	named := func(name, ip string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{ClusterIP: ip, Ports: ports}}
	}
	if _, err := services.Create(ctx, named("dry", ""), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil || len(names()) != 0 {
		t.Errorf("after a dry run there are %q, %v", names(), err)
	}
	a, err := services.Create(ctx, named("a", ""), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ip, err := addresses.Get(ctx, a.Spec.ClusterIP, metav1.GetOptions{})
	if err != nil || *ip.Spec.ParentRef != (networkingv1.ParentReference{Resource: "services", Namespace: "default", Name: "a"}) {
		t.Fatalf("%+v, %v", ip, err)
	}
	if revision(t, ip)+1 != revision(t, a) {
		t.Errorf("the IPAddress has revision %s, the Service %s", ip.ResourceVersion, a.ResourceVersion)
	}
	if len(ip.ManagedFields) != 1 || ip.ManagedFields[0].Manager != "kube-apiserver" || ip.UID == "" {
		t.Errorf("it is %+v", ip.ObjectMeta)
	}
	if _, err := services.Create(ctx, named("a", "10.0.0.77"), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) || !slices.Equal(names(), []string{a.Spec.ClusterIP}) {
		t.Errorf("after a refused create there are %q, %v", names(), err)
	}
	if _, err := services.Create(ctx, named("none", corev1.ClusterIPNone), metav1.CreateOptions{}); err != nil || len(names()) != 1 {
		t.Errorf("after a headless Service there are %q, %v", names(), err)
	}
	own := &networkingv1.IPAddress{ObjectMeta: metav1.ObjectMeta{Name: "10.0.0.78"}, Spec: networkingv1.IPAddressSpec{ParentRef: ip.Spec.ParentRef.DeepCopy()}}
	if own, err = addresses.Create(ctx, own, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := services.Create(ctx, named("taken", "10.0.0.78"), metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("with an address that somebody's IPAddress stands for: %v", err)
	}
	a.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "example.dev"}
	before := revision(t, own)
	if a, err = services.Update(ctx, a, metav1.UpdateOptions{}); err != nil || !slices.Equal(names(), []string{"10.0.0.78"}) {
		t.Errorf("after it has let its address go, there are %q, %v", names(), err)
	} else if revision(t, a) != before+2 {
		t.Errorf("it let its address go between revisions %d and %s", before, a.ResourceVersion)
	}
	for i := range 3 {
		if _, err := services.Create(ctx, named(fmt.Sprint("s", i), ""), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(); len(got) != 4 {
		t.Errorf("for three more Services there are %q", got)
	}
	if err := services.Delete(ctx, "s0", metav1.DeleteOptions{}); err != nil || len(names()) != 3 {
		t.Errorf("after a delete there are %q, %v", names(), err)
	}
	if err := c.CoreV1().RESTClient().Delete().Namespace("default").Resource("services").Do(ctx).Error(); err != nil || !slices.Equal(names(), []string{"10.0.0.78"}) {
		t.Errorf("after the delete of all Services there are %q, %v", names(), err)
	}
}
