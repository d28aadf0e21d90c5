package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/subjects/kinds"
)

// catalogFlags are the flags of `informersim catalog`.
type catalogFlags struct{ run, text, json bool }

func newCatalogCommand() *cobra.Command {
	f := &catalogFlags{}
	c := &cobra.Command{
		Use:   "catalog [PATTERN...]",
		Short: "List the scenarios that come with informersim, by theme, and run them",
		Long: `catalog lists the scenarios that the command brings along: theme by theme, with what each is about, the faults in it, the components it
needs, and the historical bugs that it cites. PATTERN is a part of a name, a theme, a fault (watch-410), a component (streaming-list) or a
bug (k115658); a scenario has to match one of them.

With --run, each is played on each subject: the transcript has to be as it is written, and every property has to hold. With --text, the
script is printed, to begin one of your own with: informersim catalog k115658 --text > my.sim

Exit codes: 0 fine; 1 a transcript differs or a property broke; 2 bad input.`,
		Example: `  informersim catalog
  informersim catalog streaming-list
  informersim catalog --run workers
  informersim catalog gap_of_everything --text > my.sim`,
		Args: cli.Usage(cobra.ArbitraryArgs),
		RunE: func(c *cobra.Command, args []string) error { return f.do(c, args) },
	}
	c.Flags().BoolVar(&f.run, "run", false, "play each scenario on each subject")
	c.Flags().BoolVar(&f.text, "text", false, "print the script, of one scenario")
	c.Flags().BoolVar(&f.json, "json", false, "print a line of JSON for each scenario")
	return c
}

func (f *catalogFlags) do(c *cobra.Command, args []string) error {
	all, err := scenarios.Catalogue()
	if err != nil {
		return err
	}
	selected, err := selectEntries(all, args)
	if err != nil {
		return err
	}
	if f.text {
		return f.printText(c.OutOrStdout(), selected, args)
	}
	theme, failed := "", 0
	for _, e := range selected {
		results, err := f.play(c, e)
		if err != nil {
			return err
		}
		for _, r := range results {
			if !r.Passed {
				failed++
			}
		}
		if f.json {
			err = json.NewEncoder(c.OutOrStdout()).Encode(catalogLine{
				Name: e.Name, Theme: e.Theme, Prose: e.Prose, Faults: e.Faults(), Components: e.Components, Bugs: e.Bugs, Results: results,
			})
		} else {
			err = writeEntry(c.OutOrStdout(), e, results, e.Theme != theme)
		}
		if err != nil {
			return err
		}
		theme = e.Theme
	}
	if f.json {
		return failures(failed)
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "\n%s\n", f.summary(len(selected), failed))
	if err != nil {
		return err
	}
	return failures(failed)
}

func failures(n int) error {
	if n > 0 {
		return broken{reports.Counted(n, "run") + " failed"}
	}
	return nil
}

// selectEntries returns the scenarios that patterns mean. A name that is written in full means that one alone.
func selectEntries(all []scenarios.Entry, patterns []string) ([]scenarios.Entry, error) {
	matches := func(e *scenarios.Entry, pattern string) bool {
		if slices.ContainsFunc(all, func(x scenarios.Entry) bool { return x.Name == pattern }) {
			return e.Name == pattern || slices.Contains(e.Labels(), pattern)
		}
		return e.Matches(pattern)
	}
	for _, p := range patterns {
		if !slices.ContainsFunc(all, func(e scenarios.Entry) bool { return matches(&e, p) }) {
			return nil, fmt.Errorf("of the %d scenarios none is meant by %q: informersim catalog lists them with their themes, faults and components", len(all), p)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(e scenarios.Entry) bool {
		return len(patterns) > 0 && !slices.ContainsFunc(patterns, func(p string) bool { return matches(&e, p) })
	}), nil
}

func (f *catalogFlags) printText(w io.Writer, selected []scenarios.Entry, args []string) error {
	if f.run || f.json {
		return fmt.Errorf("--text prints a script and nothing else: leave out --run and --json")
	}
	named := slices.DeleteFunc(slices.Clone(selected), func(e scenarios.Entry) bool { return !slices.Contains(args, e.Name) })
	if len(named) == 1 {
		selected = named
	}
	if len(selected) != 1 {
		return fmt.Errorf("--text prints one script, and %d are meant: name one of them", len(selected))
	}
	_, err := io.WriteString(w, selected[0].Text())
	return err
}

// catalogLine is a line of JSON.
type catalogLine struct {
	Name       string          `json:"name"`
	Theme      string          `json:"theme"`
	Prose      string          `json:"prose"`
	Faults     []string        `json:"faults,omitempty"`
	Components []string        `json:"components,omitempty"`
	Bugs       []string        `json:"bugs,omitempty"`
	Results    []catalogResult `json:"results,omitempty"`
}

// catalogResult is what became of a scenario on a subject.
type catalogResult struct {
	Subject string `json:"subject"`
	Passed  bool   `json:"passed"`
	Verdict string `json:"verdict"`
	Steps   uint64 `json:"steps"`
	Command string `json:"command"` // that shows it again
}

func (f *catalogFlags) play(c *cobra.Command, e scenarios.Entry) ([]catalogResult, error) {
	if !f.run {
		return nil, nil
	}
	var results []catalogResult
	for _, kind := range kinds.All() {
		res, err := scenarios.Run(c.Context(), e.Scenario, scenarios.Options{Subject: kind, Seed: 1, Properties: properties.All()})
		if err != nil {
			return nil, fmt.Errorf("%s on %s: %w", e.Name, kind.Name, err)
		}
		results = append(results, catalogResult{
			Subject: kind.Name, Passed: res.Passed(), Verdict: res.Verdict(), Steps: res.Steps,
			Command: fmt.Sprintf("informersim catalog %s --text > %s.sim && informersim run %s.sim --subject %s", e.Name, e.Name, e.Name, kind.Name),
		})
	}
	return results, nil
}

func writeEntry(w io.Writer, e scenarios.Entry, results []catalogResult, heading bool) error {
	b := &strings.Builder{}
	if heading {
		fmt.Fprintf(b, "\n%s: %s\n", e.Theme, e.ThemeText)
	}
	fmt.Fprintf(b, "  %s\n", e.Name)
	if results == nil {
		fmt.Fprintf(b, "      %s\n", firstSentence(e.Prose))
		for _, l := range []struct {
			what   string
			labels []string
		}{{"faults", e.Faults()}, {"needs", e.Components}, {"bugs", e.Bugs}} {
			if len(l.labels) > 0 {
				fmt.Fprintf(b, "      %s: %s\n", l.what, strings.Join(l.labels, " "))
			}
		}
	}
	for _, r := range results {
		fmt.Fprintf(b, "      %-9s %s, %s\n", r.Subject, r.Verdict, reports.Counted(int(r.Steps), "step"))
		if !r.Passed {
			fmt.Fprintf(b, "        %s\n", r.Command)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// firstSentence is the beginning of prose.
func firstSentence(prose string) string {
	if n := strings.Index(prose, ". "); n >= 0 {
		return prose[:n+1]
	}
	return prose
}

func (f *catalogFlags) summary(n, failed int) string {
	text := reports.Counted(n, "scenario")
	switch {
	case !f.run:
		return text
	case failed > 0:
		return fmt.Sprintf("%s on each of %d subjects: %s failed", text, len(kinds.All()), reports.Counted(failed, "run"))
	}
	return fmt.Sprintf("%s on each of %d subjects: all pass", text, len(kinds.All()))
}
