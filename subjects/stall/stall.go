package stall

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/subjects"
)

// Steps take microseconds, those with 100,000 objects a second. One that takes as long as this never ends. The time is counted in ticks, of
// which a process that was stopped gets only one.
const (
	tick     = time.Second
	maxTicks = 15
)

// Watch is a subjects.Watch.
func Watch(run func(stepped func())) error { return watch(run, tick) }

func watch(run func(stepped func()), tick time.Duration) error {
	r := &watched{ended: make(chan struct{})}
	go r.run(run)
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	last, idle := uint64(0), 0
	for {
		select {
		case <-r.ended:
			return nil
		case <-ticks.C:
		}
		n := r.steps.Load()
		if idle++; n != last {
			last, idle = n, 0
		}
		if idle < maxTicks {
			continue
		}
		r.givenUp.Store(true)
		return &subjects.Failure{Kind: subjects.Hung, What: fmt.Sprintf("a step does not end: after %v of real time it is in %s", maxTicks*tick, strings.Join(r.calls(), "\n  called by "))}
	}
}

// watched is a run.
type watched struct {
	steps   atomic.Uint64
	givenUp atomic.Bool
	ended   chan struct{}
	id      atomic.Value // bubble.ThisGoroutine
}

func (r *watched) run(run func(stepped func())) {
	defer close(r.ended)
	r.id.Store(bubble.ThisGoroutine())
	run(r.stepped)
}

// stepped counts a step. A run that was given up never goes on: what it has written is being read.
func (r *watched) stepped() {
	r.steps.Add(1)
	if r.givenUp.Load() {
		select {}
	}
}

// maxCalls bounds the calls that are named.
const maxCalls = 12

// calls are the calls under way in the step, innermost first.
func (r *watched) calls() (calls []string) {
	if id, ok := r.id.Load().(string); ok {
		for _, f := range bubble.CallsOf(id) {
			if len(calls) == maxCalls || strings.HasSuffix(f.Function, "/sim.(*Kernel).Step") {
				break
			}
			calls = append(calls, f.String())
		}
	}
	if len(calls) == 0 {
		return []string{"a place that cannot be told"}
	}
	return calls
}
