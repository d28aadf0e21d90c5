package rest_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/builtin"
	"github.com/informersim/informersim/fakeapiserver/quotas"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// A write asks for the quotas of its own namespace, and takes from them.
func TestChargeAsksForItsNamespace(t *testing.T) {
	q, err := quotas.New()
	if err != nil {
		t.Fatal(err)
	}
	reg := types.NewRegistry()
	if err := reg.Add(builtin.Resources(builtin.Options{})...); err != nil {
		t.Fatal(err)
	}
	limit := corev1.ResourceList{corev1.ResourceConfigMaps: resource.MustParse("1")}
	have := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: limit}}
	have.Status.Hard, have.Status.Used = limit, corev1.ResourceList{corev1.ResourceConfigMaps: resource.MustParse("0")}
	var asked []string
	list := func(gr schema.GroupResource, namespace string) []runtime.Object {
		if asked = append(asked, gr.Resource+" in "+namespace); namespace == "a" {
			return []runtime.Object{have}
		}
		return nil
	}
	maps := reg.Lookup(corev1.SchemeGroupVersion.WithResource("configmaps"))
	for _, tt := range []struct {
		namespace string
		effects   int
	}{{"a", 1}, {"b", 0}} {
		asked = nil
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: tt.namespace, Name: "m"}}
		effects, err := q.Charge(maps, &types.Write{Namespace: tt.namespace, Name: "m", List: list}, m, nil)
		if err != nil || len(effects) != tt.effects || !slices.Equal(asked, []string{"resourcequotas in " + tt.namespace}) {
			t.Errorf("in %s: %d effects, %v; it asked for %q", tt.namespace, len(effects), err, asked)
		}
	}
	if used := have.Status.Used[corev1.ResourceConfigMaps]; !used.IsZero() {
		t.Errorf("the stored quota has changed: %s", used.String())
	}
}
