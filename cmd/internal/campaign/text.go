package campaign

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/cmd/internal/junit"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/reports"
)

// Progress sums up in a few words what has been done. speed is in virtual time per real time.
func (c *Campaign) Progress(speed float64) string {
	t := c.Total()
	return fmt.Sprintf("%.0f virtual h/s, %s, %d of %d kinds of faults", speed/3600, reports.Counted(len(c.Findings), "finding"), len(t.Faults), len(fault.Kinds()))
}

// WriteText renders the campaign for a terminal. folder says where its files are, "" for nowhere.
func (c *Campaign) WriteText(w io.Writer, folder string) error {
	var b strings.Builder
	verdict := c.Verdict()
	fmt.Fprintf(&b, "%s\n%s\n", c.Title(), verdict)
	t := c.Total()
	fmt.Fprintf(&b, "      %s\n", c.work(&t))
	for _, g := range c.Groups() {
		fmt.Fprintf(&b, "      %s  seed %d%s: %s\n", g[0].Name, g[0].Seed, also(g[0]), reports.PlainLine(g[0].headline()))
		for n, f := range g {
			if n > 0 {
				fmt.Fprintf(&b, "        %s%s  seed %d%s%s\n", g.like(n), f.Name, f.Seed, also(f), reports.PlainLine(g.unlike(n)))
			}
		}
	}
	for _, u := range c.Undecided {
		fmt.Fprintf(&b, "      seed %d has no verdict: %s\n", u.Seed, reports.PlainLine(firstLine(u.Why)))
	}
	for _, m := range c.Missing() {
		fmt.Fprintf(&b, "      %s\n", m)
	}
	if strings.HasPrefix(verdict, "PASS") {
		b.WriteString(c.Asked.unchecked())
	}
	if folder != "" {
		fmt.Fprintf(&b, "      results in %s\n", reports.PlainLine(folder))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// unchecked is the line about what the corpus expects in vain, "" if that is nothing.
func (a *Asked) unchecked() string {
	n := 0
	for _, f := range a.Corpus {
		n += f.Unchecked
	}
	if len(a.Corpus) == 1 {
		return reports.Unchecked(n, "the script")
	}
	return reports.Unchecked(n, "the scripts")
}

// Title says what was asked, in a line.
func (c *Campaign) Title() string {
	text := "fuzz · subject " + c.Asked.Subject + " · seeds " + c.Asked.Seeds()
	if n := len(c.Asked.Corpus); n > 0 {
		text += " · " + reports.Counted(n, "file")
	}
	switch {
	case c.Merged:
		text += fmt.Sprintf(" · %d of %d shards", len(c.Shards), c.Asked.Shards)
	case c.Asked.Shards > 1:
		text += fmt.Sprintf(" · shard %d of %d", c.Shards[0].Index, c.Asked.Shards)
	}
	return text
}

// Nothing reports that no run was made, although there are seeds.
func (c *Campaign) Nothing() bool {
	return c.Total().Done == 0 && slices.ContainsFunc(c.Shards, func(s *Shard) bool { return c.Asked.Runs(s.Index) > 0 })
}

// Verdict says on a line how the campaign has ended so far, PASS, FAIL or OPEN first.
func (c *Campaign) Verdict() string {
	t := c.Total()
	switch {
	case len(c.Findings) > 0:
		found := reports.Counted(len(c.Findings), "finding")
		if n := len(c.Groups()); n < len(c.Findings) {
			found += fmt.Sprintf(", perhaps of %s,", reports.Counted(n, "bug"))
		}
		return fmt.Sprintf("FAIL  %s in %s, of which %d fail", found, reports.Counted(t.Done, "run"), t.Failing)
	case c.Lost:
		return fmt.Sprintf("FAIL  1 finding after %s, which could not be kept", reports.Counted(t.Done, "run"))
	case len(c.Undecided) > 0:
		return fmt.Sprintf("OPEN  %s of %s without a verdict, no property broke", reports.Counted(len(c.Undecided), "seed"), reports.Counted(t.Done, "run"))
	case c.Nothing():
		return "OPEN  nothing was checked: it ended before the first run did"
	case len(c.Missing()) > 0:
		return fmt.Sprintf("OPEN  %s, no property broke, but not all were made", reports.Counted(t.Done, "run"))
	case t.Done == 0:
		return "PASS  0 runs: there are fewer seeds than shards"
	}
	if len(t.Expected) > 0 {
		n := uint64(0)
		for _, runs := range t.Expected { // order: a sum
			n += runs
		}
		return fmt.Sprintf("PASS  %s, of which %d broke what their scenario expects (%s); all other properties held",
			reports.Counted(t.Done, "run"), n, strings.Join(slices.Sorted(maps.Keys(t.Expected)), ", "))
	}
	return fmt.Sprintf("PASS  %s, %d properties held after every step of each", reports.Counted(t.Done, "run"), len(c.Properties))
}

func (c *Campaign) work(t *Shard) string {
	n := 0
	for _, count := range t.Faults { // order: a sum
		n += count
	}
	return fmt.Sprintf("%d steps · %.0f virtual hours · %d faults of %d kinds of %d · %v, %s",
		t.Steps, t.Virtual.Hours(), n, len(t.Faults), len(fault.Kinds()), t.Took.Round(10*time.Millisecond), c.speed(t))
}

func (c *Campaign) speed(t *Shard) string {
	seconds := max(t.Took.Seconds(), 1e-3)
	return fmt.Sprintf("%.0f runs/s", float64(t.Done)/seconds)
}

// also says how many other seeds have a finding.
func also(f *Finding) string {
	if f.Count < 2 {
		return ""
	}
	return fmt.Sprintf(" and %d more", f.Count-1)
}

// Line is what a campaign prints as a line of JSON: a finding, or the summary at the end.
type Line struct {
	Version int      `json:"version"` // reports.JSONVersion
	Finding *Finding `json:"finding,omitempty"`
	Summary *Summary `json:"summary,omitempty"`
}

// Summary is the campaign as a line of JSON.
type Summary struct {
	*Campaign
	Verdict string   `json:"verdict"`
	Missing []string `json:"missing,omitempty"`
	Runs    uint64   `json:"runs"`
	Failing uint64   `json:"failing"`
	// Alike has the names of findings that break one property in the same way, the simplest first; nil if no two do.
	Alike [][]string `json:"alike,omitempty"`
}

// WriteJSON renders the campaign as one line of JSON.
func (c *Campaign) WriteJSON(w io.Writer) error {
	t := c.Total()
	verdict, _, _ := strings.Cut(c.Verdict(), " ")
	return writeLine(w, Line{Summary: &Summary{c, strings.ToLower(verdict), c.Missing(), t.Done, t.Failing, names(c.Groups())}})
}

// WriteJSON renders the finding as one line of JSON.
func (f *Finding) WriteJSON(w io.Writer) error { return writeLine(w, Line{Finding: f}) }

func writeLine(w io.Writer, line Line) error {
	line.Version = reports.JSONVersion
	data, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// WriteMarkdown renders the campaign as the summary of a job.
func (c *Campaign) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	t := c.Total()
	fmt.Fprintf(&b, "### informersim %s\n\n**%s**\n\n%s\n", c.Title(), strings.Join(strings.Fields(c.Verdict()), " "), c.work(&t))
	if len(c.Findings) > 0 {
		b.WriteString("\n| finding | seed | runs | left of it | what broke |\n|---|---|---|---|---|\n")
		for _, g := range c.Groups() {
			for n, f := range g {
				what := f.headline()
				if n > 0 {
					what = g.like(n) + what
				}
				fmt.Fprintf(&b, "| `%s` | %d | %d | %s | %s |\n", f.Name, f.Seed, f.Count, junit.Cell(f.Size), junit.Cell(what))
			}
		}
	}
	for _, u := range c.Undecided {
		fmt.Fprintf(&b, "\n* seed %d has no verdict: %s", u.Seed, junit.Cell(firstLine(u.Why)))
	}
	for _, m := range c.Missing() {
		fmt.Fprintf(&b, "\n* %s", m)
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}
