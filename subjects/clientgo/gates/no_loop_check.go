//go:build no_loop_check

package gates

import (
	"context"
	"sync"

	"k8s.io/client-go/tools/cache"
)

// inside returns the context that an informer runs with, which is started next.
func (g *loopGate) inside() context.Context {
	loops.Lock()
	loops.starting = g
	loops.Unlock()
	return g.Context
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
