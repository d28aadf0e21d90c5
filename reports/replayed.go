package reports

import (
	"fmt"
	"strings"

	"github.com/informersim/informersim/sim"
)

// Replayed says how the replay of a trace compares with the trace.
type Replayed struct {
	Trace string `json:"trace"` // the file
	Steps uint64 `json:"traceSteps"`
	// Verdict is that of the trace's run, "" if the file lacks its end.
	Verdict string `json:"traceVerdict,omitempty"`
	// Ended says why the trace ends before its run was over, or what the file lacks; "" if it is whole.
	Ended string `json:"ended,omitempty"`
	// Divergence is the first difference, nil if the run is the same. After it the run went on from its seed.
	Divergence *Divergence `json:"divergence,omitempty"`
	// NotDeterministic is the evidence that the difference is no change of the program; "" for none.
	NotDeterministic string `json:"notDeterministic,omitempty"`
	// Verify is the command that shows whether this program is deterministic; "" if the replay was asked for on another subject.
	Verify string `json:"verify,omitempty"`
	// Subject is that of the trace, if the replay was asked for on another one.
	Subject string `json:"traceSubject,omitempty"`
	// WrittenBy and ReplayedBy are the versions of the program that wrote the trace and of this one.
	WrittenBy  map[string]string `json:"writtenBy,omitempty"`
	ReplayedBy map[string]string `json:"replayedBy,omitempty"`
}

// Keys of the versions in a trace's header.
const (
	VersionProgram = "informersim"
	VersionCommit  = "commit" // "" if the linker recorded none; DirtySuffix follows if there were local changes
	VersionClient  = "client-go"
	VersionGo      = "go"
)

// DirtySuffix marks a commit or a version with local changes.
const DirtySuffix = "+dirty"

// Build names the program of a trace's versions.
func Build(versions map[string]string) string {
	if versions[VersionProgram] == "" {
		return "an unknown program: the trace does not name it"
	}
	parts := []string{versions[VersionProgram]}
	switch commit := versions[VersionCommit]; {
	case strings.HasSuffix(commit, DirtySuffix):
		parts = append(parts, "commit "+short(strings.TrimSuffix(commit, DirtySuffix))+" with local changes")
	case commit != "":
		parts = append(parts, "commit "+short(commit))
	case versions[VersionProgram] == "devel":
		parts = append(parts, "its commit is not known (go run and go test record none)")
	}
	if v := versions[VersionClient]; v != "" {
		parts = append(parts, "client-go "+v)
	}
	if v := versions[VersionGo]; v != "" {
		parts = append(parts, v)
	}
	return PlainLine("informersim " + strings.Join(parts, ", "))
}

// short returns as much of a commit as git needs to find it.
func short(commit string) string { return commit[:min(len(commit), 12)] }

// SameBuild reports whether two programs are known to be the same, apart from the machine: the same commit or release without local
// changes, and the same versions, with a client-go that was published.
func SameBuild(a, b map[string]string) bool {
	for _, key := range []string{VersionProgram, VersionCommit, VersionClient, VersionGo} {
		if a[key] != b[key] || strings.HasSuffix(a[key], DirtySuffix) {
			return false
		}
	}
	if client := strings.Fields(a[VersionClient]); len(client) > 0 && !(strings.HasPrefix(client[0], "v") && strings.HasPrefix(client[len(client)-1], "v")) {
		return false // it is that of a folder, whose name says nothing of what is in it
	}
	return a[VersionCommit] != "" || a[VersionProgram] != "devel" && a[VersionProgram] != ""
}

// Ended puts a verdict into words: "broke PerKeyOrder".
func Ended(verdict string) string {
	switch verdict {
	case "":
		return "has an unknown end"
	case "pass":
		return "passed"
	case "held":
		return "did not break what its scenario should break"
	case "mismatch":
		return "did not match its transcript"
	case "error":
		return "ended with an error"
	case sim.EndInterrupted:
		return "was interrupted"
	case sim.EndTimeout:
		return "ran out of time"
	case sim.EndDied:
		return "was cut off: its process died"
	case sim.EndStuck:
		return "was cut off: a goroutine never came to rest"
	}
	return "broke " + PlainLine(verdict)
}

// EndedEarly says why a trace ends where it does: its end line, or what the file lacks.
func EndedEarly(end *sim.TraceEnd, cut *sim.TraceError) string {
	switch {
	case cut != nil && cut.Cut == sim.CutBetweenSteps:
		return "its end line is missing: its run was killed, or the file was cut between two steps"
	case cut != nil:
		return fmt.Sprintf("the file was cut within line %d, so how its run went on is not known", cut.Line)
	case end != nil && end.EndedEarly():
		return "its run " + Ended(end.Verdict)
	}
	return ""
}

// Finding compares the verdict of the run with that of the trace's: whether what broke is still broken.
func (p *Replayed) Finding(r *Run) string {
	switch here := r.Verdict(); {
	case p.Verdict == "" || (&sim.TraceEnd{Verdict: p.Verdict}).EndedEarly():
		return fmt.Sprintf("how the trace's run would have ended is not known; this one %s", Ended(here))
	case here == p.Verdict && r.Violation != nil:
		return fmt.Sprintf("the trace's run broke %s, and this one breaks the same property, at step %d", PlainLine(p.Verdict), r.Violation.Step)
	case here == p.Verdict:
		return fmt.Sprintf("the trace's run %s, and so did this one", Ended(here))
	case r.Violation != nil && p.brokeProperty():
		return fmt.Sprintf("the trace's run broke %s; this one breaks another property, %s, at step %d", PlainLine(p.Verdict), PlainLine(here), r.Violation.Step)
	}
	return fmt.Sprintf("the trace's run %s; this one %s", Ended(p.Verdict), Ended(r.Verdict()))
}

func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func (p *Replayed) brokeProperty() bool { return strings.HasPrefix(Ended(p.Verdict), "broke ") }

// Line says on one line how the replay went.
func (p *Replayed) Line(r *Run) string {
	if d := p.Divergence; d != nil {
		text := fmt.Sprintf("%s: differs from the trace at step %d: %s; %s", p.Trace, d.Step, d.Why, p.Finding(r))
		if p.NotDeterministic != "" {
			text += "; not deterministic: " + p.NotDeterministic
		}
		return PlainLine(fmt.Sprintf("%s (written by %s; replayed by %s)", text, Build(p.WrittenBy), Build(p.ReplayedBy)))
	}
	text := fmt.Sprintf("%s: same run: %d steps, hash %s, verdict %s", p.Trace, r.Steps, sim.FormatHash(r.Hash), r.Verdict())
	if p.Ended != "" {
		text += " so far; the trace ends there: " + p.Ended
	}
	return PlainLine(text)
}

// maxRecords is the number of records that a text shows of each part of a step.
const maxRecords = 8

func (p *Replayed) writeText(b *strings.Builder, r *Run) {
	name := PlainLine(p.Trace)
	if p.Subject != "" {
		name += " on " + PlainLine(r.Subject)
	}
	d := p.Divergence
	switch {
	case d == nil && p.Ended == "":
		fmt.Fprintf(b, "replayed %s: the same run, step by step\n", name)
		return
	case d == nil:
		fmt.Fprintf(b, "replayed %s: the same run, step by step, up to step %d\n  The trace ends there: %s. What would have come after it is not known.\n\n", name, r.Steps, PlainLine(p.Ended))
		return
	}
	fmt.Fprintf(b, "replayed %s: it differs from the trace at step %d (%s)\n", name, d.Step, Rounded(d.At))
	fmt.Fprintf(b, "  %s\n\n", PlainLine(d.Why))
	d.writeStep(b)
	fmt.Fprintf(b, "  written by   %s\n", Build(p.WrittenBy))
	fmt.Fprintf(b, "  replayed by  %s\n\n", Build(p.ReplayedBy))
	if p.Subject != "" {
		fmt.Fprintf(b, "  The trace is of the subject %s.\n", PlainLine(p.Subject))
	}
	if p.Ended != "" {
		fmt.Fprintf(b, "  The trace has no end of its own: %s.\n", PlainLine(p.Ended))
	}
	if d.Choice != "" || len(d.Run) > 0 { // otherwise the run is over there
		fmt.Fprintf(b, "  After that step nothing is compared, and the run goes on from seed %d.\n", r.Seed)
	}
	fmt.Fprintf(b, "  %s.\n", sentence(p.Finding(r)))
	switch {
	case p.NotDeterministic != "" && p.Verify == "":
		fmt.Fprintf(b, "  This is not deterministic: %s.\n", p.NotDeterministic)
	case p.NotDeterministic != "":
		fmt.Fprintf(b, "  This is not deterministic: %s. To see it:\n    %s\n", p.NotDeterministic, p.Verify)
	case p.Verify == "": // it differs since the subject does
	case p.brokeProperty() && r.Passed():
		fmt.Fprintf(b, "  If the difference is the fix, good. To rule out nondeterminism:\n    %s\n", p.Verify)
	default:
		fmt.Fprintf(b, "  To rule out nondeterminism:\n    %s\n", p.Verify)
	}
	b.WriteByte('\n')
}

// writeStep prints both sides of the step.
func (d *Divergence) writeStep(b *strings.Builder) {
	section := func(side string, texts []string) {
		for i, text := range texts {
			if i == maxRecords {
				fmt.Fprintf(b, "    %-6s  (and %d more)\n", side, len(texts)-i)
				break
			}
			fmt.Fprintf(b, "    %-6s  %s\n", side, PlainLine(text))
		}
	}
	if d.Choice != "" {
		section("both", []string{d.Choice})
	}
	same, trace, run := split(d.Trace, d.Run)
	if skipped := same - maxRecords/2; skipped > 0 {
		fmt.Fprintf(b, "    %-6s  (%d more)\n", "both", skipped)
		section("both", d.Trace[skipped:same])
	} else {
		section("both", d.Trace[:same])
	}
	section("trace", trace)
	section("here", run)
	section("both", d.Trace[same+len(trace):])
	if len(d.Possible) > 0 {
		fmt.Fprintf(b, "    possible here: %s\n", PlainLine(strings.Join(d.Possible[:min(len(d.Possible), maxRecords)], "; ")))
	}
	if len(d.Choice)+len(d.Trace)+len(d.Run) > 0 {
		b.WriteByte('\n')
	}
}
