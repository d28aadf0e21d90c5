package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	informersim "github.com/informersim/informersim"
	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/guests"
	"github.com/informersim/informersim/internal/outfile"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo"
	"github.com/informersim/informersim/subjects/clientgo/releases"
)

// bisectFlags are the flags of `informersim bisect`.
type bisectFlags struct {
	run      runFlags
	from, to string
}

func newBisectCommand() *cobra.Command {
	f := &bisectFlags{}
	c := &cobra.Command{
		Use:   "bisect FILE",
		Short: "Run a scenario or a trace on one release of client-go after the other",
		Long: `bisect plays FILE on a release of every minor of client-go, the newest patch that informersim knows, and prints which of them are right.
A scenario is a transcript without --seed and --fault-mix, as in informersim run. Of a trace, every release follows the schedule as far
as it can, and goes on from its seed.

Each release is built once, which takes a minute or more (docs/releases.md). One that lacks what FILE asks for has no verdict. If FILE is named after a bug of
docs/spec/bugs.md, its entry is printed.

Exit codes: 0 all releases with a verdict are right, 1 one of them is wrong, 2 bad input, 4 no verdict for a release that has everything,
5 a defect of informersim.`,
		Example: `  informersim bisect scenarios/testdata/k115658.sim
  informersim bisect my.sim --seed 7 --fault-mix storm --from v0.30
  informersim bisect finding.trace.jsonl --from v0.33.2 --to v0.36
  informersim bisect my.sim --from v0.36 --to ./client-go`,
		Args: cli.Usage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return f.bisect(c, args[0]) },
	}
	c.Flags().StringVar(&f.from, "from", "", "the first `release`: v0.30, or v0.30.3 for that patch (default "+releases.All()[0].NewestVersion()+")")
	c.Flags().StringVar(&f.to, "to", "", "the last `release`, or a working copy to try after those that it is as new as: ./client-go (default "+releases.BuiltIn+")")
	c.Flags().StringVar(&f.run.seed, "seed", "", "the seed of an exploration of a scenario")
	c.Flags().StringVar(&f.run.strategy, "strategy", "", "how choices are picked: "+strategyNames()+" (default fifo; random with --seed or --fault-mix)")
	c.Flags().StringVar(&f.run.mix, "fault-mix", "", "faults that may happen, as in informersim run")
	c.Flags().BoolVar(&f.run.json, "json", false, "print one JSON object per release instead of a table")
	f.run.timeout.define(c)
	return c
}

// tried is what came of a release.
type tried struct {
	Release string `json:"release"`
	// Verdict is "pass", the property that broke, what else is wrong, or "lacks" and "undecided" where there is none.
	Verdict string `json:"verdict"`
	Right   bool   `json:"right"`
	Why     string `json:"why,omitempty"`
	Steps   uint64 `json:"steps,omitempty"`
	Hash    string `json:"hash,omitempty"`
	// Unjudged is what the release cannot be held to.
	Unjudged []reports.Unjudged `json:"unjudged,omitempty"`

	judged bool
}

// between returns one release of every minor from the first to the last.
func (f *bisectFlags) between() ([]releases.Release, error) {
	var all []releases.Release
	for _, m := range releases.All() {
		r, err := releases.Parse(m.NewestVersion())
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	if guests.IsFolder(f.from) {
		return nil, errors.New("--from: a working copy can only be the last one, --to")
	}
	to, last := f.to, releases.Release{}
	if guests.IsFolder(to) {
		var err error
		if last, err = guests.Release(guests.Prefix + to); err != nil {
			return nil, fmt.Errorf("--to: %w", err)
		}
		to = fmt.Sprintf("v0.%d", last.Minor)
	}
	for _, end := range []struct {
		flag, version string
		outside       func(r, end releases.Release) bool
	}{
		{"--from", f.from, func(r, end releases.Release) bool { return r.Minor < end.Minor }},
		{"--to", to, func(r, end releases.Release) bool { return r.Minor > end.Minor }},
	} {
		if end.version == "" {
			continue
		}
		at, err := releases.Parse(end.version)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", end.flag, err)
		}
		if at.Minor == releases.Next && all[len(all)-1].Minor < at.Minor {
			all = append(all, at)
		}
		all = slices.DeleteFunc(all, func(r releases.Release) bool { return end.outside(r, at) })
		for n := range all {
			if all[n].Minor == at.Minor {
				all[n] = at
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no release from %s to %s", f.from, f.to)
	}
	if at := slices.IndexFunc(all, func(r releases.Release) bool { return r.Version == releases.BuiltIn }); at >= 0 && clientIsChanged {
		own := all[at]
		own.Version = ownCopy
		all = slices.Insert(all, at+1, own)
	}
	if last.Folder != "" {
		all = append(all, last)
	}
	return all, nil
}

func (f *bisectFlags) bisect(c *cobra.Command, path string) error {
	if err := cli.NotEmpty(c, "from", "to", "seed", "strategy", "fault-mix"); err != nil {
		return err
	}
	if err := f.run.timeout.check(); err != nil {
		return err
	}
	all, err := f.between()
	if err != nil {
		return err
	}
	try, end, err := f.player(c, path)
	if err != nil {
		return err
	}
	defer end()
	var rows []tried
	enc, out := json.NewEncoder(c.OutOrStdout()), c.OutOrStdout()
	for _, r := range all {
		row, err := tryRelease(c.Context(), r, try)
		if err != nil {
			return err
		}
		rows = append(rows, row)
		if f.run.json {
			err = enc.Encode(row)
		} else {
			_, err = fmt.Fprintf(out, "%-10s %-24s %s\n", row.Release, row.mark(), row.about())
		}
		if err != nil {
			return err
		}
	}
	if !f.run.json {
		summarize(out, rows)
		unjudged(out, rows)
		if entry := bugOf(path); entry != "" {
			fmt.Fprintf(out, "\n%s\n", entry)
		}
	}
	switch {
	case slices.ContainsFunc(rows, func(r tried) bool { return r.judged && !r.Right }):
		return broken{"a release is wrong"}
	case slices.ContainsFunc(rows, func(r tried) bool { return r.Verdict == undecidedVerdict }):
		return reported(exitUndecided)
	}
	return nil
}

const (
	lacksVerdict     = "lacks"
	undecidedVerdict = "undecided"
)

func (t *tried) mark() string {
	switch {
	case t.Right:
		return "PASS"
	case t.judged:
		return "FAIL  " + t.Verdict
	}
	return "-     " + t.Verdict
}

func (t *tried) about() string {
	if t.judged && t.Why == "" {
		return fmt.Sprintf("%d steps, hash %s", t.Steps, t.Hash)
	}
	return firstLineOf(t.Why)
}

func firstLineOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// player returns a function that plays what is at path on a subject.
func (f *bisectFlags) player(c *cobra.Command, path string) (try func(subjects.Kind) (*reports.Run, error), end func(), err error) {
	if outfile.IsTrace(path) {
		for _, flag := range []string{"seed", "strategy", "fault-mix"} {
			if c.Flags().Changed(flag) {
				return nil, nil, fmt.Errorf("--%s: %s is a trace, whose run has its own; leave the flag out", flag, path)
			}
		}
		r, err := newReplayer(c.Context(), path, f.run.timeout)
		if err != nil {
			return nil, nil, err
		}
		return func(k subjects.Kind) (*reports.Run, error) {
			r.subject = k
			followed, _, err := r.follow(nil)
			if err != nil {
				return nil, err
			}
			if followed.Early && followed.Passed() {
				return nil, &cutShort{path, followed.Steps, reports.EndedEarly(followed.End, followed.Cut)}
			}
			return &followed.Run, nil
		}, r.close, nil
	}
	seeds, err := parseSeeds(f.run.seed)
	if err != nil {
		return nil, nil, err
	}
	if seeds.many() {
		return nil, nil, fmt.Errorf("--seed %s: give one seed, since a release is right or wrong about one run", f.run.seed)
	}
	f.run.subject = clientgo.Kind.Name
	r, err := f.run.load(c, []string{path}, seeds)
	if err != nil {
		return nil, nil, err
	}
	return func(k subjects.Kind) (*reports.Run, error) {
		r.subject = k
		res, err := r.decided(r.once(c.Context(), seeds.first, ""))
		if err != nil {
			return nil, err
		}
		return &res.Run, nil
	}, func() {}, nil
}

// cutShort is the error of a run that has broken nothing as far as its trace goes, which is not to its end.
type cutShort struct {
	trace string
	steps uint64
	why   string
}

func (e *cutShort) Error() string {
	return fmt.Sprintf("%s ends after step %d, and what would come after it is not known: %s", e.trace, e.steps, e.why)
}

// ownCopy is what the program's own client-go is called beside its release, of which it is a changed copy.
const ownCopy = "built-in"

// subjectOf returns a release's kind of subject: this program's own, if that is the release as it is.
func subjectOf(ctx context.Context, r releases.Release) (subjects.Kind, error) {
	if r.Version == ownCopy || r.Version == releases.BuiltIn && !clientIsChanged {
		return hardy(ctx, clientgo.Kind)
	}
	return guests.Kind(ctx, r.Subject(), stderrOf(ctx))
}

// tryRelease plays on one release. The error is of what ends the whole command.
func tryRelease(ctx context.Context, r releases.Release, try func(subjects.Kind) (*reports.Run, error)) (tried, error) {
	row := tried{Release: r.Version}
	kind, err := subjectOf(ctx, r)
	if err != nil {
		return row, err
	}
	run, err := try(kind)
	var lacks *scenarios.LacksError
	switch {
	case ctx.Err() != nil:
		return row, ctx.Err()
	case errors.As(err, &lacks):
		row.Verdict, row.Why = lacksVerdict, fmt.Sprintf("%s: %s", lacks.Feature, kind.Lacks[lacks.Feature])
	case undecided(err):
		row.Verdict, row.Why = undecidedVerdict, err.Error()
	case err != nil:
		return row, fmt.Errorf("%s: %w", r.Subject(), err)
	default:
		row.judged, row.Right = true, run.Passed()
		row.Verdict, row.Steps, row.Hash, row.Unjudged = run.Verdict(), run.Steps, fmt.Sprintf("%016x", run.Hash), run.Unjudged
		if run.Violation != nil && !row.Right {
			row.Why = run.Violation.Message
		}
	}
	return row, nil
}

// summarize says where right and wrong change.
func summarize(out io.Writer, rows []tried) {
	judged := slices.DeleteFunc(slices.Clone(rows), func(r tried) bool { return !r.judged })
	if len(judged) == 0 {
		fmt.Fprintln(out, "no release has a verdict")
		return
	}
	changed := false
	for n := 1; n < len(judged); n++ {
		switch before, now := judged[n-1], judged[n]; {
		case before.Right == now.Right:
			continue
		case now.Right:
			fmt.Fprintf(out, "%s is right, %s is not\n", now.Release, before.Release)
		default:
			fmt.Fprintf(out, "%s is wrong, %s is not\n", now.Release, before.Release)
		}
		changed = true
	}
	switch {
	case changed:
	case judged[0].Right:
		fmt.Fprintf(out, "all are right from %s on\n", judged[0].Release)
	default:
		fmt.Fprintf(out, "all are wrong from %s on\n", judged[0].Release)
	}
}

// unjudged says what some releases could not be held to: older ones lack what newer ones have.
func unjudged(out io.Writer, rows []tried) {
	type gap struct {
		text     string
		from, to string
	}
	var gaps []gap
	for _, r := range rows {
		for _, u := range r.Unjudged {
			n := slices.IndexFunc(gaps, func(g gap) bool { return g.text == u.String() })
			if n < 0 {
				n = len(gaps)
				gaps = append(gaps, gap{text: u.String(), from: r.Release})
			}
			gaps[n].to = r.Release
		}
	}
	for _, g := range gaps {
		if g.from != g.to {
			g.from += " to " + g.to
		}
		fmt.Fprintf(out, "%s: %s\n", g.from, g.text)
	}
}

var bugName = regexp.MustCompile(`^(k|e|cr|cg)\d+`)

// bugOf returns the entry of docs/spec/bugs.md of the bug that a file is named after, "" if there is none.
func bugOf(path string) string {
	name := bugName.FindString(filepath.Base(path))
	if name == "" {
		return ""
	}
	for line := range strings.Lines(informersim.Bugs) {
		if !strings.Contains(line, `<a id="`+name+`">`) {
			continue
		}
		_, text, ok := strings.Cut(line, "**")
		if !ok {
			return ""
		}
		text, _, _ = strings.Cut(text, " **Shown by**")
		return "docs/spec/bugs.md, " + strings.TrimSpace(strings.NewReplacer("**", "", "*", "").Replace(text))
	}
	return ""
}
