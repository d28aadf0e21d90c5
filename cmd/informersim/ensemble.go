package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/informersim/informersim/reports"
)

// ensembleResult is the result of one seed.
type ensembleResult struct {
	run *reports.Run
	err error
}

// ensemble runs a range of seeds on all processors. It stops at the first failure in the order of seeds, so that the same command
// always reports the same one.
func (r *runner) ensemble() error {
	ctx, cancel := context.WithCancel(r.c.Context())
	defer cancel()
	started := time.Now()
	bar := newProgress(r.c.ErrOrStderr(), r.seeds)
	defer bar.close()

	total := reports.Ensemble{Scenario: r.scenario.Name, Subject: r.subject.Name, First: r.seeds.first, Last: r.seeds.last, Traces: r.flags.trace}
	if r.mix != nil {
		total.Mix = r.mix.Name
	}
	var lost lostSeeds
	for seed, out := range r.inOrder(ctx) {
		if lost.note(r, out.err) {
			continue
		}
		if out.err != nil {
			bar.close()
			if errors.Is(out.err, context.Canceled) {
				return fmt.Errorf("%w at seed %d; the %d before it passed", context.Canceled, seed, total.Runs())
			}
			return fmt.Errorf("seed %d: %w", seed, out.err)
		}
		total.Add(out.run)
		bar.done(&total)
		if r.flags.json {
			if err := r.printJSON(out.run); err != nil {
				return err
			}
		}
		if !out.run.Passed() {
			cancel()
			bar.close()
			report := r.explain(out.run, r.tracePath(seed))
			if r.flags.json {
				for _, note := range report.Notes {
					r.warn("%s", note)
				}
				return broken{out.run.Verdict()}
			}
			fmt.Fprintf(r.c.OutOrStdout(), "%d of %d seeds passed before this one\n", total.Runs()-1, r.count())
			return r.print(report)
		}
	}
	bar.close()
	if r.flags.json {
		return lost.error()
	}
	return errors.Join(total.WriteText(r.c.OutOrStdout(), time.Since(started)), lost.error())
}

func (r *runner) printJSON(res *reports.Run) error {
	report := reports.Report{Run: res}
	if !res.Passed() {
		report.Replay = []string{r.commandLine(res)}
	}
	return reports.WriteJSON(r.c.OutOrStdout(), report)
}

func (r *runner) count() uint64 { return r.seeds.last - r.seeds.first + 1 }

// tracePath returns the file for the trace of a seed, "" for none.
func (r *runner) tracePath(seed uint64) string {
	if r.flags.trace == "" {
		return ""
	}
	return filepath.Join(r.flags.trace, fmt.Sprintf("%s-seed%d.trace.jsonl", r.scenario.Name, seed))
}

// inOrder runs the seeds on all processors and yields the results in the order of seeds.
func (r *runner) inOrder(ctx context.Context) func(yield func(uint64, ensembleResult) bool) {
	return func(yield func(uint64, ensembleResult) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var wg sync.WaitGroup
		defer wg.Wait()
		defer cancel()

		workers := uint64(runtime.GOMAXPROCS(0))
		if r.count() != 0 {
			workers = min(workers, r.count())
		}
		results := make([]chan ensembleResult, workers)
		for w := range workers {
			results[w] = make(chan ensembleResult, 8)
			wg.Add(1)
			go func() {
				defer wg.Done()
				run, end, err := r.runs(ctx, workers)
				if err != nil {
					results[w] <- ensembleResult{nil, err}
					return
				}
				defer end()
				// Workers take every n-th seed. The loop counts offsets, because counting seeds could overflow.
				for i := w; i < r.count() || r.count() == 0; i += workers {
					seed := r.seeds.first + i
					res, err := run(seed)
					select {
					case results[w] <- ensembleResult{res, err}:
					case <-ctx.Done():
						return
					}
					if i > i+workers {
						return
					}
				}
			}()
		}
		for i := uint64(0); i < r.count() || r.count() == 0; i++ {
			select {
			case out := <-results[i%workers]:
				if !yield(r.seeds.first+i, out) {
					return
				}
			case <-ctx.Done():
				yield(r.seeds.first+i, ensembleResult{err: ctx.Err()})
				return
			}
		}
	}
}
