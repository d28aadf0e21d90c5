package informer_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/informer"
)

// A transform's error costs the event. Of a list, it leaves what the queue has taken by then.
func TestI112TransformFails(t *testing.T) {
	refused := errors.New("refused")
	transform := func(obj any) (any, error) {
		if pod, ok := obj.(*corev1.Pod); ok && pod.Name == "bad" {
			return nil, refused
		}
		return obj, nil
	}
	known := informer.NewIndexer(informer.IndexerOptions{})
	pod := func(name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	}
	for _, name := range []string{"gone", "bad"} { // the second from before it was refused
		if err := known.Add(pod(name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct { // order: each has a queue of its own
		queue informer.Queue
		left  int // after a list of an object and the bad one
	}{
		"delta":   {informer.NewDeltaFIFO(informer.DeltaFIFOOptions{KnownObjects: known, Transformer: transform}), 1},
		"inorder": {informer.NewRealFIFO(informer.RealFIFOOptions{KnownObjects: known, Transformer: transform}), 2}, // with the tombstone of gone
		"atomic":  {informer.NewRealFIFO(informer.RealFIFOOptions{Atomic: true, Transformer: transform}), 0},
	} {
		for what, write := range map[string]func(any) error{ // order: none of them leaves anything
			"Add": test.queue.Add, "Update": test.queue.Update, "Delete": test.queue.Delete,
		} {
			if err := write(pod("bad")); !errors.Is(err, refused) || test.queue.Len() != 0 {
				t.Errorf("%s: %s gives %v and leaves %d queued", name, what, err, test.queue.Len())
			}
		}
		if err := test.queue.Replace([]any{pod("a"), pod("bad"), pod("c")}, "7"); !errors.Is(err, refused) || test.queue.Len() != test.left {
			t.Errorf("%s: Replace gives %v and leaves %d queued, want %d", name, err, test.queue.Len(), test.left)
		}
	}
}
