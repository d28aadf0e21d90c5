package simtest_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informersim/informersim/simtest"
)

func podOn(name, node string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: labels},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

// A list can be restricted by labels and by the fields of its kind, follows every change, and reads what no request would read.
func TestListSelects(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) {
		names := func(options ...metav1.ListOptions) (all []string) {
			var list corev1.PodList
			if err := env.List(&list, "default", options...); err != nil {
				t.Error(err)
			}
			for _, p := range list.Items {
				all = append(all, p.Name)
			}
			return all
		}
		want := func(labels, fields string, want ...string) {
			t.Helper()
			if got := names(metav1.ListOptions{LabelSelector: labels, FieldSelector: fields}); !slices.Equal(got, want) {
				t.Errorf("%q, %q: %q, want %q", labels, fields, got, want)
			}
		}
		if got := names(); len(got) != 0 {
			t.Errorf("at first there are %q", got)
		}
		web := map[string]string{"app": "web"}
		env.Create(podOn("a", "one", map[string]string{"app": "web", "tier": "1"}), podOn("b", "two", web), podOn("c", "one", nil))
		want("", "", "a", "b", "c")
		want("app=web", "", "a", "b")
		want("app=web,tier", "", "a")
		want("!app", "", "c")
		want("", "spec.nodeName=one", "a", "c")
		want("app", "spec.nodeName=one", "a")
		want("", "metadata.name!=a,spec.nodeName!=two", "c")
		want("", "metadata.namespace=other")
		want("", "status.phase=Pending", "a", "b", "c")
		want("", "status.phase=Running")
		if got := names(metav1.ListOptions{LabelSelector: "app"}, metav1.ListOptions{LabelSelector: "!tier"}); !slices.Equal(got, []string{"b"}) {
			t.Errorf("two selectors select %q", got)
		}
		running := podOn("b", "", nil)
		if err := env.Get(running); err != nil {
			t.Fatal(err)
		}
		running.Status.Phase, running.Labels = corev1.PodRunning, map[string]string{"app": "db"}
		env.UpdateStatus(running)
		want("", "status.phase=Running", "b")
		env.Delete(podOn("a", "", nil))
		want("", "spec.nodeName=one", "c")
		u := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "PodList"}}
		if err := env.List(u, "", metav1.ListOptions{LabelSelector: "app"}); err != nil || len(u.Items) != 1 || u.Items[0].GetName() != "b" {
			t.Errorf("as unstructured: %v, %v", u.Items, err)
		}
	})
}

func TestSelectorsThatSelectNothing(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) {
		for want, o := range map[string]metav1.ListOptions{
			`env.List: the label selector "a=b=c": `:                                                                  {LabelSelector: "a=b=c"},
			`env.List: the field selector "a": `:                                                                      {FieldSelector: "a"},
			`pods cannot be selected by spec.image, only by metadata.name, metadata.namespace, `:                      {FieldSelector: "spec.image=i"},
			"of metav1.ListOptions it knows LabelSelector and FieldSelector only: it reads the Store, at its newest ": {ResourceVersion: "1", LabelSelector: "a"},
		} {
			if err := env.List(&corev1.PodList{}, "", o); err == nil {
				t.Errorf("%+v is no error", o)
			} else {
				wantIn(t, err.Error(), want)
			}
		}
	})
}
