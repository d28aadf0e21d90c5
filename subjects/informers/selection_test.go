package informers

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/subjects"
)

func TestSelection(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", Labels: map[string]string{"app": "x"}}}
	for _, test := range []struct {
		namespace, labels, fields string
		want                      bool
	}{
		{"", "", "", true},
		{"default", "", "", true},
		{"other", "", "", false},
		{"", "app=x", "", true},
		{"", "app=y", "", false},
		{"", "", "metadata.name=a", true},
		{"", "", "metadata.name=b", false},
		{"default", "app", "metadata.namespace=default", true},
		{"default", "app", "metadata.namespace=other", false},
	} {
		s, err := newSelection(&subjects.InformerSpec{Namespace: test.namespace, Labels: test.labels, Fields: test.fields})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.selects(pod); got != test.want {
			t.Errorf("namespace %q, labels %q, fields %q: %v", test.namespace, test.labels, test.fields, got)
		}
	}
	for _, bad := range []subjects.InformerSpec{{Labels: "=="}, {Fields: "a"}} {
		if _, err := newSelection(&bad); err == nil {
			t.Errorf("labels %q, fields %q are accepted", bad.Labels, bad.Fields)
		}
	}
}
