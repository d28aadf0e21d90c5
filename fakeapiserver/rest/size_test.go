package rest_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// S35: it is the object that may not be too large, not the request: small patches make it so, too, and blanks do not.
func TestS35ObjectTooLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("one client asks it one thing after the other; -short, for the race detector, leaves it out")
	}
	pods := newClient(t).CoreV1().Pods("default")
	pod := func(name string, size int) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "c", Args: []string{strings.Repeat("x", size)}}}}}
	}
	for size, want := range map[int]string{
		1_500_000: "",
		1_600_000: "etcdserver: request is too large",
		2_200_000: "rpc error: code = ResourceExhausted desc = trying to send message larger than max (2200",
	} {
		_, err := pods.Create(t.Context(), pod("a", size), metav1.CreateOptions{})
		if want == "" && err != nil || want != "" && (apierrors.ReasonForError(err) != "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d bytes: %v, want %q", size, err, want)
		}
	}
	if _, err := pods.Create(t.Context(), pod("b", 900_000), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	patch := []byte(`[{"op":"replace","path":"/spec/containers/0/image","value":"` + strings.Repeat("x", 900_000) + `"}]`)
	if _, err := pods.Patch(t.Context(), "b", types.JSONPatchType, patch, metav1.PatchOptions{}); err == nil || err.Error() != "etcdserver: request is too large" {
		t.Errorf("patch: %v", err)
	}
	patch = []byte(strings.Repeat(" ", 1_600_000) + `{"metadata":{"labels":{"a":"b"}}}`)
	if _, err := pods.Patch(t.Context(), "b", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Errorf("a patch of blanks: %v", err)
	}
}
