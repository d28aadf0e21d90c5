package probe

import (
	"context"
	"sync"
)

// Outcome is a probe and what came of it.
type Outcome struct {
	Probe      Probe
	Transcript Transcript
	// Err tells why the probe could not be played.
	Err error
}

// RunAll plays probes against several targets of one kind, each target playing one at a time, slow ones first. Outcomes
// are in the order of probes. done, when not nil, is called after each.
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
