package bubble

import (
	"fmt"
	"slices"
	"strings"
)

// LeakError reports goroutines that a run left behind and that will never end.
type LeakError struct{ Goroutines []Goroutine }

func (e *LeakError) Error() string {
	all := slices.Clone(e.Goroutines)
	slices.SortStableFunc(all, func(a, b Goroutine) int { return b.ofProgram() - a.ofProgram() })
	lines, more := linesOf(all), ""
	if n := len(lines) - maxLeaks; n > 1 {
		lines, more = lines[:maxLeaks], fmt.Sprintf("\n  … and %d more", n)
	}
	text := "the run has ended, but these goroutines are blocked for good:\n" + strings.Join(lines, "\n") + more
	for _, k := range knownLeaks {
		if slices.ContainsFunc(e.Goroutines, k.is) {
			text += "\n" + k.hint
		}
	}
	return text
}

// maxLeaks bounds the kinds of goroutines that are named. A manager that does not end has thirty.
const maxLeaks = 12

// ofProgram is 2 if a call of the program's own is under way on the goroutine, 1 if one is of a controller that it tests, else 0.
func (g Goroutine) ofProgram() int {
	calls := g.Stack[:max(len(g.Stack)-1, 0)] // the last is who started it
	for n, own := range owned {
		if slices.ContainsFunc(calls, own) {
			return len(owned) - n
		}
	}
	return 0
}

// knownLeak is a kind of goroutine that programs leave behind, and what ends it. It is told by the function that it waits in: where Go's stack ends,
// nobody knows any more who called.
type knownLeak struct{ in, hint string }

var knownLeaks = []knownLeak{
	{"k8s.io/client-go/util/workqueue.(", "A work queue has goroutines until its ShutDown. Defer that where the queue is made, so that it happens however the function ends."},
	{"sigs.k8s.io/controller-runtime/pkg/manager/signals.", "A signal handler waits for ever: no signal comes to a process of a test. Leave it to main, and give the manager the context that " +
		"simtest's env.Go passes in place of that of ctrl.SetupSignalHandler."},
	{"k8s.io/apimachinery/pkg/watch.(*Broadcaster).", "An event broadcaster has a goroutine until its Shutdown."},
	{"k8s.io/client-go/tools/watch.(*eventProcessor).", "The goroutine of UntilWithSync is client-go's mistake, not yours: it misses an end that comes while it is about to " +
		"wait (kubernetes/kubernetes#90581). Set Options.AllowLeaks."},
	{"k8s.io/apimachinery/pkg/watch.(*filteredWatch).", "The filter of a watch is a mistake of Kubernetes' libraries, not yours: one that is stopped while it hands on an event waits for ever, as below " +
		"controller-runtime's informers of metadata only. Set Options.AllowLeaks."},
	{"sigs.k8s.io/controller-runtime/pkg/internal/source.(*Kind).Start.", "The sources are controller-runtime's mistake, not yours: up to v0.19 one that is canceled " +
		"while it starts tells a channel where nobody listens any more. Set Options.AllowLeaks, or use a newer release."},
	{"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue.(", "The workers are controller-runtime's mistake, not yours: in v0.20 and v0.21 its priority queue wakes no worker that waits " +
		"when it shuts down. Set Options.AllowLeaks, or use a newer release."},
}

// is reports whether a goroutine is of the kind. What has type parameters in one release had none in an earlier one.
func (k knownLeak) is(g Goroutine) bool {
	return strings.HasPrefix(strings.ReplaceAll(g.At, "[...]", ""), k.in)
}
