package world

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
)

// died says, where the test's process no longer can, which run it has died in, and keeps the trace.
func (r *runner) died(s source, f *flight, res *outcome) {
	if !errors.Is(r.peer.gone, errGone) {
		return
	}
	where := fmt.Sprintf("%s, seed %d", r.task.Test, s.header.Seed)
	if by := r.host.Interrupted(); by != "" && r.box.died() == "" {
		r.interrupted(by, where, s, f, res)
		return
	}
	head := "simtest: the process died during a run: " + where
	var name, file string // where the trace is wanted, as seen from the test's folder and as it is
	var again, later []string
	switch {
	case r.shrinking != "":
		head = "simtest: the process died while a failure was being shrunk: " + where
	case r.replaying:
		head += ", replaying " + r.task.File
		if s.replay == nil {
			name, file = r.task.File, r.path(r.task.File) // it was cut off, too
		}
		again = append(again, fmt.Sprintf("%s -simtest.replay=%s", r.task.Command, reports.ShellQuote(r.task.File)))
	case r.task.Folder != "":
		if place, err := r.traceFile(s.header.Seed); err == nil {
			name, file = place, r.path(place)
			later = append(later, fmt.Sprintf("%s -simtest.replay=%s", r.task.Command, reports.ShellQuote(name)))
		}
	}

	var b strings.Builder
	for _, line := range r.result.Logs {
		fmt.Fprintf(&b, "\n%s", line) // the test's log would have it
	}
	fmt.Fprintf(&b, "\n%s\n%s%s%s", head, r.box.exited(), r.box.mutated(), f.howFar(res))
	if r.task.Worker {
		b.WriteString(r.lastWords(r.box.log(), ""))
		fmt.Fprint(r.host.Stderr, reports.Plain(b.String()))
		return
	}
	if s.cut {
		r.tellDead(&b, res)
		fmt.Fprint(r.host.Stderr, reports.Plain(b.String()))
		return
	}
	kept, err := r.keep(file, res.trace.Bytes())
	if kept == "" {
		fmt.Fprintf(&b, "  the trace so far could not be kept: %v\n", err)
	} else if fmt.Fprintf(&b, "  the trace so far is in %s\n", kept); err != nil {
		fmt.Fprintf(&b, "  it is not where the next test would find it: %v\n", err)
	} else {
		again = append(again, later...)
	}
	again = append(again, fmt.Sprintf("%s -simtest.seed=%d", r.task.Command, s.header.Seed))
	b.WriteString(r.lastWords(r.box.log(), file))
	switch {
	case r.shrinking != "":
		fmt.Fprintf(&b, "\nThe failure was:\n\n%s\n", r.shrinking)
	case res.violation != nil:
		fmt.Fprintf(&b, "\nThe run had failed:\n\n%s\n", r.text(res, name))
	default:
		fmt.Fprintf(&b, "\n  see it again\n    %s\n", strings.Join(again, "\n    "))
	}
	fmt.Fprint(r.host.Stderr, reports.Plain(b.String()))
	switch {
	case r.search != nil:
		r.searchOn()
	case err == nil && file != "" && !r.replaying:
		r.simplerAfterDeath(res, name)
	}
}

// tellDead tells of a run that has ended its process as its trace says.
func (r *runner) tellDead(b *strings.Builder, res *outcome) {
	was := outcome{dead: true, crash: r.told.Failure}
	if other := was.culprit(); !other.is(res.culprit()) {
		fmt.Fprintf(b, "  the run of the trace ended otherwise: %v\n", was.errDied())
	} else if other.known() {
		res.crash = was.crash // this side does not see how its test has exited
	}
	res.err = res.errDied()
	if r.told.Twin != nil {
		res.tellOf(r.told.Twin)
	}
	if page := pageFile(r.task.File); r.storePage(r.path(page), res.trace.Bytes()) {
		res.page = page
	}
	fmt.Fprintf(b, "\n%s\n%s", r.text(res, r.task.File), r.lastWords(res.tail, ""))
}

// simplerAfterDeath makes a run simpler that has ended the test's process, if somebody waits for what it says of that, and tells of what is left.
func (r *runner) simplerAfterDeath(res *outcome, name string) {
	if !r.mayBeSimpler(res) {
		return
	}
	limit := r.patience(r.task.Shrink)
	if limit <= 0 {
		fmt.Fprint(r.host.Stderr, "\nsimtest: the next run of the test makes that run simpler, before it repeats it\n")
		return
	}
	r.announce(limit)
	o := &others{r: r}
	defer o.close() // which may take longer than somebody waits
	simpler := o.simpler(res, limit)
	if simpler == nil {
		why := errors.New("no other process of the test has ended in that way")
		if r.host.Stopped() {
			why = errors.New("somebody has interrupted that")
		} else if o.err != nil {
			why = o.err
		}
		fmt.Fprintf(r.host.Stderr, "simtest: the trace stays as it is: %v\n", why)
		return
	}
	var b strings.Builder
	if err := r.storeSimpler(simpler, name); err != nil {
		fmt.Fprintf(&b, "simtest: the trace stays as it is: %v\n", err)
		name = ""
	}
	fmt.Fprintf(&b, "\n%s\n%s", r.text(simpler, name), r.lastWords(simpler.tail, ""))
	fmt.Fprint(r.host.Stderr, reports.Plain(b.String()))
}

// patience returns how much of a time limit for shrinking there is when the test's process has died: none if nobody waits.
func (r *runner) patience(limit time.Duration) time.Duration {
	if awaited := r.program.Awaited; awaited > 0 {
		limit = min(limit, awaited*4/5-twinTime)
	}
	if limit > 0 && !r.host.Awaited(r.program.Parent) {
		return 0
	}
	return limit
}

func (r *runner) announce(limit time.Duration) {
	fmt.Fprintf(r.host.Stderr, "\nsimtest: other processes of the test make that run simpler, for %v at most (-simtest.shrink)\n", limit.Round(time.Millisecond))
}

// searchOn goes on with shrinking a failure when a run that was tried has ended the test's process: in other processes, which may end as well.
func (r *runner) searchOn() {
	s := r.search
	defer func() { s.failed = true }() // where this was called from
	if !r.canStartAgain() {
		return
	}
	limit := r.patience(s.deadline.Sub(r.host.Now()))
	if limit <= 0 {
		return
	}
	r.announce(limit)
	r.shrinking = ""
	o := &others{r: r}
	defer o.close()
	s.elsewhere(o, limit)
	text := r.text(s.best, r.store(s.best))
	fmt.Fprintf(r.host.Stderr, "\n%s\n", reports.Plain(text))
}

// storeSimpler replaces a trace, with what lies beside it, by that of a simpler run. Its name is that from the test's folder.
func (r *runner) storeSimpler(res *outcome, name string) error {
	if err := r.host.Store(r.path(name), res.trace.Bytes()); err != nil {
		return err
	}
	if page := pageFile(name); r.storePage(r.path(page), res.trace.Bytes()) {
		res.page = page
	}
	log := res.tail
	if text := res.log.text(); text != "" {
		log = []byte(text)
	}
	if len(log) == 0 {
		return nil
	}
	return r.host.Store(r.path(logFile(name)), log)
}

// keep writes a trace to where it is wanted, else to a temporary file, and returns where it is, "" if nowhere. The error says why it is not where it is
// wanted.
func (r *runner) keep(file string, trace []byte) (kept string, err error) {
	if file != "" {
		if err = r.host.Store(file, trace); err == nil {
			r.storePage(pageFile(file), trace)
			return file, nil
		}
	}
	kept, spare := r.host.Spare(traceSuffix, trace)
	if spare != nil {
		return "", errors.Join(err, spare)
	}
	return kept, err
}

// lastWords keeps the end of a log beside a trace, and returns its last lines.
func (r *runner) lastWords(log []byte, trace string) string {
	if len(log) == 0 {
		return ""
	}
	var b strings.Builder
	if file := logFile(trace); trace != "" && r.host.Store(file, log) == nil {
		fmt.Fprintf(&b, "  the end of its log is in %s\n", file)
	}
	fmt.Fprintf(&b, "\n  what it logged last\n    %s\n", strings.ReplaceAll(strings.Join(lastLogged(string(log)), "\n"), "\n", "\n    "))
	return b.String()
}

// tellLate tells of a failure whose test has ended before it could be told, as when somebody does not wait until it is shrunk.
func (r *runner) tellLate() {
	if r.peer.gone != nil && r.result.Failure != "" {
		text := fmt.Sprintf("\nsimtest: the process died while a failure was being shrunk: %s, seed %d\n\nThe failure was:\n\n%s\n", r.task.Test, r.result.Seed, r.result.Failure)
		fmt.Fprint(r.host.Stderr, reports.Plain(text))
	}
}

// diedAfter says of a process that died after a run, because a context has ended in which goroutines of the run wait, why it did. Nothing else would: Go's own message names neither,
// and a testing library that prints a failure at the end of its test does not come to that.
func (r *runner) diedAfter() {
	if r.task.Worker || !r.box.canceledFromOutside() {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nsimtest: the process died after a run, of %s, seed %d: a context that was made outside of simtest.Run has ended, and goroutines of the run have waited for it, which Go does "+
		"not allow. Give processes the context that env.Go passes them, or env.Context(), not the test's, a suite's or a spec's.\n", r.task.Test, r.result.Seed)
	if r.result.Failure != "" {
		fmt.Fprintf(&b, "\nThe run had failed:\n\n%s\n", r.result.Failure)
	}
	fmt.Fprint(r.host.Stderr, reports.Plain(b.String()))
}
