package gates

import (
	"strings"
	"testing"

	"k8s.io/client-go/tools/cache"
)

// A client-go that keeps its queue elsewhere is refused with an error that says so.
func TestUnknownQueueIsRefused(t *testing.T) {
	type informer struct {
		cache.SharedIndexInformer
		controller any
	}
	for _, inf := range []cache.SharedIndexInformer{&informer{}, &informer{controller: &struct{ x int }{}}} {
		if _, err := viewQueue(inf); err == nil || !strings.Contains(err.Error(), "this client-go") {
			t.Errorf("the error is %v", err)
		}
	}
}
