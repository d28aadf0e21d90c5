package world

import (
	"fmt"
	"strings"

	"github.com/informersim/informersim/reports"
)

// interrupted says which run a test was in when somebody ended it by a signal, as by Ctrl-C. That is no finding, so the next run does not begin with
// it: a trace is kept only where the user wants all of them.
func (r *runner) interrupted(by, where string, s source, f *flight, res *outcome) {
	if r.task.Worker {
		return // the test's own process, which got the signal, too, says it
	}
	during := "during a run"
	switch {
	case r.shrinking != "":
		during = "while a failure was being shrunk"
	case r.replaying:
		during = "as it replayed " + r.task.File
	}
	var b strings.Builder
	for _, line := range r.result.Logs {
		fmt.Fprintf(&b, "\n%s", line) // the test's log would have it
	}
	fmt.Fprintf(&b, "\nsimtest: the test was interrupted (signal: %s) %s: %s\n%s", by, during, where, f.howFar(res))
	kept := ""
	if r.task.Traces != "" && r.shrinking == "" && !r.replaying {
		if name, err := r.traceFile(s.header.Seed); err != nil {
			fmt.Fprintf(&b, "  the trace so far could not be kept: %v\n", err)
		} else if err := r.host.Store(r.path(name), res.trace.Bytes()); err != nil {
			fmt.Fprintf(&b, "  the trace so far could not be kept: %v\n", err)
		} else {
			kept = r.path(name)
			r.storePage(pageFile(kept), res.trace.Bytes())
			fmt.Fprintf(&b, "  the trace so far is in %s\n", kept)
		}
	}
	b.WriteString(r.lastWords(r.box.log(), kept))
	if r.shrinking != "" {
		fmt.Fprintf(&b, "\nThe failure was:\n\n%s\n", r.shrinking)
	} else {
		fmt.Fprintf(&b, "\n  see it again\n    %s -simtest.seed=%d\n", r.task.Command, s.header.Seed)
	}
	fmt.Fprint(r.host.Stderr, reports.Plain(b.String()))
}
