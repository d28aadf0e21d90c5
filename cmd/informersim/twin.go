package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/minimal"
	"github.com/informersim/informersim/scenarios/twin"
)

// twinTime limits the search for the twin of a run that was shrunk, or that fuzz has found, in real time: each run of it is short.
const twinTime = 30 * time.Second

// errTwinLate is the reason of a missing twin that depends on how fast the machine is.
var errTwinLate = errors.New("the search for it was ended")

// twinned looks for the nearest run that passes beside one that failed, and returns the failed run's trace with it. Nothing is lost if there is
// none.
func twinned(ctx context.Context, limit timeLimit, f *minimal.Found, trace []byte) (*reports.Twin, []byte, error) {
	t, err := within(ctx, limit, f.Options.Seed, func(ctx context.Context) (*reports.Twin, error) { return twin.Search(ctx, *f, 0) })
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, trace, fmt.Errorf("%w after %v", errTwinLate, time.Duration(limit))
	}
	if err != nil {
		return nil, trace, err
	}
	with, err := reports.WithTwin(trace, t)
	if err != nil {
		return nil, trace, err
	}
	return t, with, nil
}

// addTwin looks for the twin of a run whose trace lies at path, and puts it into that file.
func (r *runner) addTwin(report *reports.Report, path string) {
	if r.flags.report == "" || report.Run.Violation == nil {
		return
	}
	if err := r.tryTwin(report, path); err != nil && !errors.Is(err, context.Canceled) {
		r.warn("no nearest run that passes: %v", err)
	}
}

func (r *runner) tryTwin(report *reports.Report, path string) error {
	trace, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	there := *r
	if there.subject, err = forSearch(r.c.Context(), r.subject, report.Run.Violation); err != nil {
		return err
	}
	if hangs(report.Run.Violation) && !isGuest(there.subject) {
		return errors.New("a goroutine that never rests cannot be left behind, and this program has no guest for other runs")
	}
	f, err := foundIn(path, trace, there.options(report.Run.Seed), report.Run.Violation)
	if err != nil {
		return err
	}
	t, with, err := twinned(r.c.Context(), r.flags.timeout, f, trace)
	if err != nil || bytes.Equal(with, trace) {
		return err
	}
	report.Twin = t
	return r.traceTarget(path).Write(r.c.Context(), with)
}
