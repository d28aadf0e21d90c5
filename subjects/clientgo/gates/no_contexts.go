//go:build no_contexts

package gates

import (
	"sync"

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

func (i *informer) run() {
	loops.Lock()
	loops.starting = i.loop
	loops.Unlock()
	i.inf.Run(i.loop.Done())
}

// loops are the gates of the informers of this run, by their queues.
var loops struct {
	sync.Mutex
	starting *loopGate // the one whose queue is not known yet
	gates    map[any]*loopGate
}

// The loop of these releases looks at nothing before it takes from the queue, so the build of a guest has it call this function there.
func init() {
	cache.InformersimGate = func(queue any) {
		loops.Lock()
		gate := loops.gates[queue]
		if gate == nil {
			gate = loops.starting
			if loops.gates == nil {
				loops.gates = map[any]*loopGate{}
			}
			loops.gates[queue] = gate
		}
		loops.Unlock()
		gate.wait()
	}
}
