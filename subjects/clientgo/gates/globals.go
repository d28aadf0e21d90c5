package gates

import (
	"errors"
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/subjects"
)

// Host makes a run inside a bubble of its own, in which [Enter] is called. quiescence limits the real time that a step may take to become
// quiescent; 0 for the default. With interleave, the seed interleaves client-go's goroutines, in a program that can (bubble.Seeded).
func Host(seed uint64, quiescence time.Duration, interleave bool, run func()) error {
	return host(seed, bubble.Options{QuiescenceTimeout: quiescence, Interleave: interleave}, run)
}

// HostOfMany is Host for one of many runs, most of which are expected to deadlock (bubble.Options.Many).
func HostOfMany(seed uint64, interleave bool, run func()) error {
	return host(seed, bubble.Options{Interleave: interleave, Many: true}, run)
}

func host(seed uint64, o bubble.Options, run func()) error {
	o.TakeOver = takeOver
	err := bubble.Run(seed, o, run)
	var stuck *bubble.StuckError
	var leak *bubble.LeakError
	switch {
	case errors.As(err, &stuck):
		return &subjects.Failure{Kind: subjects.Hung, What: err.Error()}
	case errors.As(err, &leak):
		return &subjects.Failure{Kind: subjects.Leaked, What: err.Error()}
	case errors.Is(err, bubble.ErrRace):
		return &subjects.Failure{Kind: subjects.Raced, What: err.Error()}
	}
	return err
}

// takeOver sets up the process-wide state that client-go needs in addition to every bubble's: its feature gates, the handling of
// injected panics, and logs. The bubble restores the panic handlers.
func takeOver() (restore func()) {
	restore = takeOverFeatures()
	discardLogs()
	panicked.Store(nil)
	utilruntime.ReallyCrash = false
	survivePanics()
	return restore
}

// recovered notes a panic that client-go has recovered: those that a scenario injects do no harm, and the first of any other ends the
// run. What client-go does not recover crashes the process as usual.
func recovered(r any) {
	if _, ok := r.(injectedPanic); !ok {
		panicked.CompareAndSwap(nil, subjects.PanicOf(r))
	}
}

// panicked is the first panic of this run that was not injected.
var panicked atomic.Pointer[subjects.Failure]
