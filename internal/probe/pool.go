package probe

import (
	"context"
	"sync"
)

// An Outcome is the result of playing a probe.
type Outcome struct {
	Probe      Probe
	Transcript Transcript
	// Err is set if the probe could not be played.
	Err error
}

// RunAll plays probes against several targets of one kind, one at a time on each target and slow ones first. Outcomes
// are in the order of probes. RunAll calls done, if it is not nil, after each probe.
func RunAll(ctx context.Context, targets []Target, probes []Probe, done func(Outcome)) []Outcome {
	queue := make(chan int, len(probes))
	for _, slow := range []bool{true, false} {
		for i, p := range probes {
			if p.Slow == slow {
				queue <- i
			}
		}
	}
	close(queue)
	outcomes := make([]Outcome, len(probes))
	var workers sync.WaitGroup
	var reporting sync.Mutex
	for _, target := range targets {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := range queue {
				transcript, err := Run(ctx, target, probes[i])
				outcomes[i] = Outcome{probes[i], transcript, err}
				if done != nil {
					reporting.Lock()
					done(outcomes[i])
					reporting.Unlock()
				}
			}
		}()
	}
	workers.Wait()
	return outcomes
}
