package subjects

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// Failure is the error of a run that the stack under test has ended, not its input. Subjects fail the kernel with it, and a Host
// returns it.
type Failure struct {
	Kind FailureKind
	What string
}

func (f *Failure) Error() string { return f.What }

// FailureKind is what a stack under test may do to its run.
type FailureKind uint8

// The kinds of failures.
const (
	// Panicked: it panicked, on a goroutine of its own or on the kernel's.
	Panicked FailureKind = iota
	// Hung: it does not go on although it could. If a Host says so, the run stands still for good.
	Hung
	// Leaked: it left goroutines behind when the run was over.
	Leaked
	// Raced: the race detector found something.
	Raced
	// Refuses: it refuses a call that it has to accept.
	Refuses
)

// PanicOf returns the failure of a stack that panics with a value. It is for the functions that a panic defers or calls.
func PanicOf(value any) *Failure {
	return &Failure{Kind: Panicked, What: fmt.Sprintf("panic: %v\n  in %s", value, strings.Join(Panicking(), "\n  called by "))}
}

// maxStack bounds the calls that a failure names.
const maxStack = 12

// Panicking returns the calls under way at a panic, innermost first, within a step. It is for the functions that a panic defers or
// calls. The result is the same in every run: it has no addresses and no folders.
func Panicking() []string {
	pc := make([]uintptr, 64)
	pc = pc[:runtime.Callers(2, pc)]
	var calls []string
	frames := runtime.CallersFrames(pc)
	for more := true; more && len(calls) < maxStack; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case strings.HasSuffix(f.Function, "/sim.(*Kernel).Step"):
			return calls
		case f.Function == "runtime.gopanic":
			calls = calls[:0] // up to here it is about handling the panic
		case !strings.HasPrefix(f.Function, "runtime.") && f.Function != "":
			calls = append(calls, fmt.Sprintf("%s (%s:%d)", f.Function, path.Base(f.File), f.Line))
		}
	}
	return calls
}
