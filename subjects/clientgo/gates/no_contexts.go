//go:build no_contexts

package gates

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// Requests of these releases end with the informer here. In a real program, a list that is under way would go on, and nobody would
// look at its answer.
func (i *informer) listerWatcher() cache.ListerWatcher {
	return &cache.ListWatch{
		ListFunc:  func(o metav1.ListOptions) (runtime.Object, error) { return i.list(i.loop, o) },
		WatchFunc: func(o metav1.ListOptions) (watch.Interface, error) { return i.open(i.loop, o) },
	}
}

func (i *informer) run() { i.inf.Run(i.loop.inside().Done()) }
