package stall

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

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
	id      atomic.Value // how a dump of stacks begins the goroutine: "goroutine 7 "
}

func (r *watched) run(run func(stepped func())) {
	defer close(r.ended)
	head := make([]byte, 64)
	head = head[:runtime.Stack(head, false)]
	r.id.Store(string(head[:bytes.IndexByte(head, '[')]))
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
	id, _ := r.id.Load().(string)
	for _, block := range bytes.Split(dump(), []byte("\n\n")) {
		if id == "" || !bytes.HasPrefix(block, []byte(id)) {
			continue
		}
		lines := strings.Split(string(block), "\n")
		for n := 1; n+1 < len(lines) && len(calls) < maxCalls; n += 2 {
			function, position := lines[n], strings.TrimSpace(lines[n+1])
			if strings.Contains(function, "/sim.(*Kernel).Step(") {
				break
			}
			if i := strings.LastIndex(function, "("); i > 0 {
				function = function[:i]
			}
			position, _, _ = strings.Cut(position[strings.LastIndex(position, "/")+1:], " ")
			calls = append(calls, fmt.Sprintf("%s (%s)", function, position))
		}
	}
	if len(calls) == 0 {
		return []string{"a place that cannot be told"}
	}
	return calls
}

// dump returns the stacks of all goroutines.
func dump() []byte {
	for size := 1 << 20; ; size *= 2 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size || size >= 1<<27 {
			return buf[:n]
		}
	}
}
