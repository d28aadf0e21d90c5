package store

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func podResource() Resource {
	return Resource{
		Version: "v1", Plural: "pods", Kind: "Pod", Namespaced: true,
		New: func() runtime.Object { return &corev1.Pod{} },
	}
}

// pod returns a pod with that key and, unless content is empty, the label content.
func pod(key, content string) *corev1.Pod {
	p := &corev1.Pod{}
	p.Namespace, p.Name, _ = strings.Cut(key, "/")
	if content != "" {
		p.Labels = map[string]string{"content": content}
	}
	return p
}

// mustRev returns an object's resourceVersion as a number.
func mustRev(obj runtime.Object) int64 {
	m, err := Meta(obj)
	if err != nil {
		panic(err)
	}
	rev, err := ParseRevision(m.GetResourceVersion())
	if err != nil {
		panic(err)
	}
	return rev
}
