package reports

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"
)

// WriteText renders a report for a terminal.
func WriteText(w io.Writer, report Report) error {
	var b strings.Builder
	r := report.Run
	if report.Replayed != nil {
		report.Replayed.writeText(&b, r)
	}
	fmt.Fprintf(&b, "%s\n", headline(r))
	writeOutputs(&b, report.Outputs)
	switch {
	case r.Passed() && r.Expected != "" && r.Violation != nil:
		fmt.Fprintf(&b, "PASS  the scenario breaks %s at step %d, as expected\n", PlainLine(r.Violation.Property), r.Violation.Step)
	case r.Passed():
		fmt.Fprintf(&b, "PASS  %s\n", held(r))
	case r.Violation != nil:
		fmt.Fprintf(&b, "FAIL  %s at step %d (%s)\n", PlainLine(r.Violation.Property), r.Violation.Step, Rounded(r.Violation.At))
		fmt.Fprintf(&b, "\n  %s\n", strings.ReplaceAll(strings.TrimRight(r.Violation.Message, "\n"), "\n", "\n  "))
		for i, e := range r.Violation.Because {
			word := "        "
			if i == 0 {
				word = "because "
			}
			fmt.Fprintf(&b, "  %sstep %d (%s): %s\n", word, e.Step, Rounded(e.At), PlainLine(e.Text))
		}
	case r.Failure != "":
		fmt.Fprintf(&b, "FAIL  %s\n", strings.TrimRight(r.Failure, "\n"))
	case r.Expected != "":
		fmt.Fprintf(&b, "FAIL  the scenario should break %s, but it held\n", PlainLine(r.Expected))
	default:
		fmt.Fprintf(&b, "FAIL  the transcript is not as expected\n")
	}
	for _, m := range r.Mismatches {
		writeMismatch(&b, m)
	}
	if why := r.Mutation(); why != "" {
		fmt.Fprintf(&b, "\n  %s\n", PlainLine(why))
	}
	for i := range report.Aftermath {
		report.Aftermath[i].write(&b)
	}
	if len(report.Story) > 0 {
		fmt.Fprintf(&b, "\n  what happened\n")
		for _, l := range report.Story {
			fmt.Fprintf(&b, "    %s\n", l)
		}
	}
	report.Twin.write(&b)
	for _, note := range report.Notes {
		fmt.Fprintf(&b, "\n  %s\n", PlainLine(note))
	}
	report.Log.write(&b)
	for i, line := range report.Replay {
		if i == 0 {
			fmt.Fprintf(&b, "\n  see it again\n")
		}
		fmt.Fprintf(&b, "    %s\n", line)
	}
	if report.Page != "" {
		if len(report.Replay) == 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "    step by step in a browser: %s\n", PlainLine(report.Page))
	}
	if !r.Passed() {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "      %s\n", counts(r))
	_, err := io.WriteString(w, Plain(b.String()))
	return err
}

func writeOutputs(b *strings.Builder, outputs []Output) {
	for _, o := range outputs {
		fmt.Fprintf(b, "\n  %s: %s\n", PlainLine(o.At), PlainLine(o.Command))
		text := strings.TrimRight(o.Text, "\n")
		if text == "" {
			text = "(nothing)"
		}
		fmt.Fprintf(b, "    %s\n", strings.ReplaceAll(text, "\n", "\n    "))
	}
	if len(outputs) > 0 {
		b.WriteByte('\n')
	}
}

func headline(r *Run) string {
	parts := []string{"scenario " + r.Scenario, "subject " + r.Subject, "strategy " + r.Strategy, fmt.Sprintf("seed %d", r.Seed)}
	if r.Mix != "" {
		parts = append(parts, "fault mix "+r.Mix)
	}
	if r.Configuration != "" {
		parts = append(parts, r.Configuration)
	}
	return PlainLine(strings.Join(parts, " · "))
}

func held(r *Run) string {
	if len(r.Properties) == 0 {
		return "no property was checked"
	}
	return fmt.Sprintf("%d properties held after every step", len(r.Properties))
}

func counts(r *Run) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s · %s · %s\n", Counted(r.Steps, "step"), virtualTime(r.Virtual, r.Converging, time.Millisecond), faults(r))
	if r.ShrunkFrom != "" {
		fmt.Fprintf(&b, "      shrunk from %s\n", PlainLine(r.ShrunkFrom))
	}
	if r.Search != nil {
		r.Search.write(&b, r.Violation != nil)
	}
	fmt.Fprintf(&b, "      %s, %s, %s%s\n", Counted(r.Commits, "write"), Counted(r.Requests, "request"), Counted(r.Frames, "watch frame"), calls(r))
	for _, line := range configurationLines(r.Informers) {
		fmt.Fprintf(&b, "      %s\n", line)
	}
	for i := range r.Unjudged {
		fmt.Fprintf(&b, "      %s\n", r.Unjudged[i])
	}
	for _, x := range r.Refused {
		fmt.Fprintf(&b, "      %s\n", PlainLine(x.String()))
	}
	if r.Passed() {
		b.WriteString(Unchecked(r.Unchecked, "the script"))
	}
	for _, m := range r.Missed {
		fmt.Fprintf(&b, "      %s\n", PlainLine(fmt.Sprintf("%s: %s has hit nothing", m.At, m.Command)))
	}
	fmt.Fprintf(&b, "      hash %016x", r.Hash)
	return b.String()
}

// Unchecked is the line about what scripts expect in vain, "" if that is nothing.
func Unchecked(n int, of string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("      not compared: %s of %s; an exploration checks properties only\n", Counted(n, "expectation"), of)
}

// virtualTime tells the time in which the world converged from the rest.
func virtualTime(all, converging, precision time.Duration) string {
	text := all.Round(precision).String() + " of virtual time"
	if c := converging.Round(precision); c > 0 {
		text += ", " + c.String() + " of it to converge"
	}
	return text
}

// calls counts the notifications, and the reconciles if there are any. If only the API was observed, there may be reconciles that the test tells of.
func calls(r *Run) string {
	switch {
	case r.APIOnly && r.Reconciles > 0:
		return ", " + Counted(r.Reconciles, "reconcile")
	case r.APIOnly:
		return ""
	case r.Reconciles == 0:
		return ", " + Counted(r.Notifications, "notification")
	}
	return ", " + Counted(r.Notifications, "notification") + ", " + Counted(r.Reconciles, "reconcile")
}

func faults(r *Run) string {
	total := r.FaultTotal()
	if total == 0 {
		return "no faults injected"
	}
	return fmt.Sprintf("%s injected (%s)", Counted(total, "fault"), faultKinds(r))
}

// Counted returns a number with its noun: "1 fault", "2 faults".
func Counted[N int | uint64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func faultKinds(r *Run) string {
	kinds := make([]string, len(r.Faults))
	for i, f := range r.Faults {
		kinds[i] = fmt.Sprintf("%s ×%d", f.Name, f.Count)
	}
	return PlainLine(strings.Join(kinds, ", "))
}

func writeMismatch(b *strings.Builder, m Mismatch) {
	if m.Message != "" {
		fmt.Fprintf(b, "\n  %s: %s\n", PlainLine(m.At), m.Message)
		return
	}
	fmt.Fprintf(b, "\n  %s: the output differs from the script's (--rewrite accepts the new one)\n", PlainLine(m.At))
	for _, line := range strings.Split(strings.TrimRight(udiff.Unified("expected", "actual", m.Expected, m.Actual), "\n"), "\n") {
		fmt.Fprintf(b, "    %s\n", line)
	}
}

// Rounded returns a virtual time as reports have it, to the millisecond.
func Rounded(d time.Duration) string { return d.Round(time.Millisecond).String() }
