package bubble

import (
	"slices"
	"strings"
)

// LeakError reports goroutines that a run left behind and that will never end.
type LeakError struct{ Goroutines []Goroutine }

func (e *LeakError) Error() string {
	text := "the run has ended, but these goroutines are blocked for good:\n" + listing(e.Goroutines)
	for _, k := range knownLeaks {
		if slices.ContainsFunc(e.Goroutines, k.is) {
			text += "\n" + k.hint
		}
	}
	return text
}

// knownLeak is a kind of goroutine that programs leave behind, and what ends it. It is told by the function that it waits in: where Go's stack ends,
// nobody knows any more who called.
type knownLeak struct{ in, hint string }

var knownLeaks = []knownLeak{
	{"k8s.io/client-go/util/workqueue.(", "A work queue has goroutines until its ShutDown. Defer that where the queue is made, so that it happens however the function ends."},
	{"k8s.io/apimachinery/pkg/watch.(*Broadcaster).", "An event broadcaster has a goroutine until its Shutdown."},
	{"sigs.k8s.io/controller-runtime/pkg/internal/source.(*Kind).Start.", "The sources are controller-runtime's mistake, not yours: up to v0.19 one that is canceled " +
		"while it starts tells a channel where nobody listens any more. Set Options.AllowLeaks, or use a newer release."},
}

func (k knownLeak) is(g Goroutine) bool { return strings.HasPrefix(g.At, k.in) }
