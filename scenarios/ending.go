package scenarios

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// A run ends in one of these ways. What the stack under test does wrong is never an error, but a violation in the Result:
//
//   - a property of Options.Properties is broken, or one that every run is held to: NoLivelock, NoPanic, NoDeadlock, NoLeak,
//     NoDataRace. NoPanic is of the fake server, too;
//   - the input is wrong: a *ScriptError, or another error that says so;
//   - a replay differs from its trace, or the trace is damaged: a *sim.DivergedError or *sim.TraceError;
//   - nothing was decided: a *TimeoutError if the deadline of the run's context has passed, context.Canceled;
//   - informersim itself is wrong: a *sim.DefectError.

// TimeoutError means that a run had not ended when the deadline of its context passed: nothing is known of its verdict.
type TimeoutError struct {
	Seed    uint64
	Steps   uint64
	Virtual time.Duration
	// Waits is what the script waits for, "" for nothing.
	Waits string
	// Last are the records of the steps that followed the deadline, oldest first.
	Last []string
	// Goroutines are those of the stack under test, if it has any.
	Goroutines []string
}

func (e *TimeoutError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the time is up, and the run of seed %d has not ended: it is at step %d, after %v of virtual time", e.Seed, e.Steps, e.Virtual)
	if e.Waits != "" {
		fmt.Fprintf(&b, "; the script waits for %s", e.Waits)
	}
	b.WriteString(section("\n  what happens now", e.Last))
	b.WriteString(section("\n  goroutines of the stack under test", e.Goroutines))
	return b.String()
}

// Unwrap returns the error of a context whose deadline has passed.
func (e *TimeoutError) Unwrap() error { return context.DeadlineExceeded }

func section(title string, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return title + "\n    " + strings.Join(lines, "\n    ")
}

// The steps and the records that a run may still make when its time is up, to show what it is doing.
const (
	overtimeSteps   = 64
	overtimeRecords = 16
)

// overtime is what a run does when its time is up. It is a sim.Observer.
type overtime struct {
	k     *sim.Kernel
	steps int
	last  []string
}

// Record implements sim.Observer.
func (o *overtime) Record(r *sim.Record) {
	if len(o.last) == overtimeRecords {
		return
	}
	text := fmt.Sprintf("step %d (%v): %s %s", r.Step, r.At, o.k.ActorName(r.Actor), r.Kind)
	for _, part := range []string{r.Key, r.Detail} {
		if part != "" {
			text += " " + part
		}
	}
	o.last = append(o.last, text)
}

// StepEnd implements sim.Observer.
func (o *overtime) StepEnd(*sim.StepInfo) { o.steps++ }

// outOfTime handles a context that is done. It returns nil while the run is in overtime.
func (w *World) outOfTime() error {
	err := w.ctx.Err()
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, context.DeadlineExceeded):
		return err
	case w.overtime == nil:
		w.overtime = &overtime{k: w.kernel}
		w.kernel.Observe(w.overtime)
		return nil
	case w.overtime.steps < overtimeSteps && len(w.overtime.last) < overtimeRecords:
		return nil
	}
	e := &TimeoutError{Seed: w.options.Seed, Steps: w.kernel.Steps(), Virtual: w.kernel.Elapsed(), Last: w.overtime.last}
	if w.barrier != nil {
		e.Waits = w.barrier.what
	}
	if s, ok := w.subject.(interface{ Goroutines() []string }); ok {
		e.Goroutines = s.Goroutines()
	}
	return e
}

// endOfPanic ends a run that panics: with a violation if the stack under test did it, or the fake server. A server that falls over is as wrong as one
// that answers wrongly, and its trace as useful.
func (w *World) endOfPanic(err *error) {
	v := recover()
	if v == nil {
		return
	}
	stack := subjects.Panicking()
	if serversFault(stack) {
		f := subjects.PanicOf(v)
		f.What = "informersim's fake server, and not the stack under test: " + f.What
		*err = w.blame(f)
		return
	}
	if ourFault(stack) {
		*err = &sim.DefectError{Why: subjects.PanicOf(v).What}
		w.kernel.AbandonStep()
		return
	}
	*err = w.blame(subjects.PanicOf(v))
}

const module = "github.com/informersim/informersim/"

// machinery are the packages that hold no stack: when one of them panics, it is informersim's own defect.
var machinery = []string{"sim", "bubble", "fakeapiserver", "scenarios", "properties", "reports", "subjects", "internal"}

// serversFault reports whether the code that panicked is the fake server's.
func serversFault(stack []string) bool {
	for _, call := range stack {
		if rest, ours := strings.CutPrefix(call, module); ours {
			return strings.HasPrefix(rest, "fakeapiserver.") || strings.HasPrefix(rest, "fakeapiserver/")
		}
	}
	return false
}

// ourFault tells whose code panicked: the innermost that is neither Go's nor that of the libraries of API types, which both sides
// call.
func ourFault(stack []string) bool {
	for _, call := range stack {
		switch {
		case strings.HasPrefix(call, module+"properties/mutants."):
			return false
		case strings.HasPrefix(call, module):
			rest := call[len(module):]
			for _, folder := range machinery {
				if strings.HasPrefix(rest, folder+".") || strings.HasPrefix(rest, folder+"/") {
					return true
				}
			}
			return false
		case strings.HasPrefix(call, "k8s.io/api"), strings.HasPrefix(call, "k8s.io/utils"), strings.HasPrefix(call, "sigs.k8s.io/"):
		case strings.Contains(call[:strings.IndexByte(call+"/", '/')], ".") && strings.Contains(call, "/"):
			return false
		}
	}
	return true
}

// namesOfFailures are the properties that failures of the stack under test break.
var namesOfFailures = map[subjects.FailureKind]string{
	subjects.Panicked: property.NoPanic, subjects.Hung: property.NoDeadlock, subjects.Leaked: property.NoLeak, subjects.Raced: property.NoDataRace,
	subjects.Refuses: "CallsRefused", // which judges such calls at the end of a run
}

// blame turns an error that is the fault of the stack under test into a violation, at the step that it may have left unfinished. It
// returns other errors.
func (w *World) blame(err error) error {
	var f *subjects.Failure
	if !errors.As(err, &f) {
		return err
	}
	w.monitor.Report(namesOfFailures[f.Kind], &reports.Violation{Message: f.What}) // the place in the script, which an error may name, is another one in a trace
	w.kernel.AbandonStep()
	return nil
}
