package timeline

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/informersim/informersim/reports"
)

// Commands returns the lines that make the run again. A trace does not know its own name: unless File has it, they have the one that it is
// given when no other is asked for.
func (t *Timeline) Commands() []string {
	h := t.Header
	if h.Subject == "simtest" {
		return t.testCommands()
	}
	trace := reports.ShellPath(t.Run.FileName() + ".trace.jsonl")
	if t.File != "" {
		trace = reports.ShellPath(t.File)
	}
	lines := []string{"informersim replay " + trace}
	if h.Strategy == "guided" {
		return lines // only the trace has the schedule
	}
	line := "informersim run"
	if h.Scenario != "builtin" {
		line += " " + reports.ShellPath(h.Scenario+".sim")
	}
	line += fmt.Sprintf(" --seed %d --strategy %s", h.Seed, reports.ShellQuote(h.Strategy))
	if t.Run.Mix != "" {
		line += " --fault-mix " + reports.ShellQuote(t.Run.Mix)
	}
	if h.Subject != "stack" {
		line += " --subject " + reports.ShellQuote(h.Subject)
	}
	return append(lines, line)
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_.]+`)

// testCommands are the commands for the trace of a Go test.
func (t *Timeline) testCommands() []string {
	h := t.Header
	parts := strings.Split(h.Scenario, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	line := "go test"
	if h.Options["runtime"] == "seeded" {
		line = "informersim go test"
	}
	if pkg := h.Options["package"]; pkg != "" {
		line += " " + reports.ShellQuote(pkg)
	}
	line += " -run " + reports.ShellQuote(strings.Join(parts, "/"))
	trace := fmt.Sprintf("testdata/simtest/%s-%d.trace.jsonl", notInNames.ReplaceAllString(h.Scenario, "_"), h.Seed)
	return []string{line + " -simtest.replay=" + reports.ShellPath(trace), line + fmt.Sprintf(" -simtest.seed=%d", h.Seed)}
}
