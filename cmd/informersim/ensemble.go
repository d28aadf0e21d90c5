package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informersim/informersim/reports"
)

// ensemble runs a range of seeds on all processors. It stops at the first failure in the order of seeds, so that the same command
// always reports the same one.
func (r *runner) ensemble() error {
	ctx, cancel := context.WithCancel(r.c.Context())
	defer cancel()
	started := time.Now()
	bar := newProgress(r.c.ErrOrStderr(), r.seeds.last-r.seeds.first+1)
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
		out.value = r.toGuest(out.value, r.tracePath(seed))
		r.seen = out.value
		total.Add(out.value)
		bar.done(total.Progress())
		if r.flags.json {
			if err := r.printJSON(out.value); err != nil {
				return err
			}
		}
		if !out.value.Passed() {
			cancel()
			bar.close()
			report := r.explain(out.value, r.tracePath(seed))
			if r.flags.json {
				for _, note := range report.Notes {
					r.warn("%s", note)
				}
				if err := r.page(&report); err != nil {
					return err
				}
				r.printSmaller(report)
				return broken{out.value.Verdict()}
			}
			fmt.Fprintf(r.c.OutOrStdout(), "%d of %d seeds passed before this one\n", total.Runs()-1, r.count())
			return r.printFailed(report)
		}
	}
	bar.close()
	if r.flags.report != "" {
		r.warn("no report is written: no seed fails; for the report of one that passes, give --seed that one")
	}
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
	return filepath.Join(r.flags.trace, r.identified(seed).FileName()+traceSuffix)
}

// inOrder runs the seeds on all processors and yields the results in the order of seeds.
func (r *runner) inOrder(ctx context.Context) iter.Seq2[uint64, result[*reports.Run]] {
	workers := uint64(runtime.GOMAXPROCS(0))
	if r.count() != 0 {
		workers = min(workers, r.count())
	}
	if r.subject.Host != nil && !r.readTwice() {
		workers = 1 // there can be no children, and but one run at a time
	}
	start := func(ctx context.Context) (func(uint64) (*reports.Run, error), func(), error) {
		one, end, err := r.runs(ctx, workers)
		return func(i uint64) (*reports.Run, error) { return one(r.seeds.first + i) }, end, err // the sum may overflow, and is right even so
	}
	return func(yield func(uint64, result[*reports.Run]) bool) {
		for i, out := range inOrder(ctx, r.count(), workers, start) {
			if !yield(r.seeds.first+i, out) {
				return
			}
		}
	}
}

// result is what a worker has made.
type result[T any] struct {
	value T
	err   error
}

// ahead is the number of results, for each worker, that may wait for one that is slower.
const ahead = 8

// inOrder has workers make the numbers from 0 to count-1, 0 for all that there are, and yields the results in that order. A worker takes
// the next number when it is done with one. start returns the functions with which a worker makes a number, and ends.
func inOrder[T any](ctx context.Context, count, workers uint64, start func(context.Context) (one func(uint64) (T, error), end func(), err error)) iter.Seq2[uint64, result[T]] {
	type numbered struct {
		n      uint64
		begins bool // whether it is of a number, and not of a worker that could not begin
		result[T]
	}
	return func(yield func(uint64, result[T]) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var wg sync.WaitGroup
		defer wg.Wait()
		defer cancel()

		var next atomic.Uint64
		room := make(chan struct{}, workers*ahead)
		results := make(chan numbered, workers*ahead) // which all that there is room for fit in
		work := func() {
			one, end, err := start(ctx)
			if err != nil {
				select {
				case results <- numbered{result: result[T]{err: err}}:
				case <-ctx.Done():
				}
				return
			}
			defer end()
			for {
				select {
				case room <- struct{}{}:
				case <-ctx.Done():
					return
				}
				n := next.Add(1) - 1
				if n >= count && count != 0 {
					return
				}
				value, err := one(n)
				select {
				case results <- numbered{n, true, result[T]{value, err}}:
				case <-ctx.Done():
					return
				}
			}
		}
		for range workers {
			wg.Go(work)
		}
		waiting := map[uint64]result[T]{}
		for i := uint64(0); i < count || count == 0; i++ {
			for _, there := waiting[i]; !there; _, there = waiting[i] {
				select {
				case r := <-results:
					if !r.begins {
						yield(i, r.result)
						return
					}
					waiting[r.n] = r.result
				case <-ctx.Done():
					yield(i, result[T]{err: ctx.Err()})
					return
				}
			}
			out := waiting[i]
			delete(waiting, i)
			<-room
			if !yield(i, out) {
				return
			}
		}
	}
}
