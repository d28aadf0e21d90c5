package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/internal/museum"
	"github.com/informersim/informersim/internal/mutation"
)

// museumFlags are the flags of `informersim museum`.
type museumFlags struct {
	work      string
	write     string
	report    string
	forget    bool // the traces are not kept
	visit     museum.Visit
	byRelease bool
	json      bool
}

func newMuseumCommand() *cobra.Command {
	f := &museumFlags{}
	c := &cobra.Command{
		Use:   "museum [PATTERN...]",
		Short: "Show the bugs that really happened: which property finds each, and that it holds without the bug",
		Long: `museum plays the historical bugs of docs/spec/bugs.md. An exhibit is a scenario, and what puts the bug back: lines of client-go, of the
fake server or of our stack, which go build -overlay replaces; or client-go as it is, where the bug is open. The property that is named
has to break with the bug, and every property and the transcript have to hold without it. A bug that is no exhibit has a row that says why.

PATTERN is a part of a bug's name, such as k115658. One bug is shown with its verdicts and its proof. With --trace, both runs leave
their traces, NAME-broken.trace.jsonl and NAME-right.trace.jsonl; informersim report and informersim explain read them. With --report, the
HTML reports of both runs are written, NAME-broken.html and NAME-right.html, and index.html, which leads to them.

With --real, the broken side is a release of client-go that had the bug, unmodified, and the right one that which mended it; a row without
them says why. Each release is built once, which takes a minute or so (docs/releases.md). --write then names a file, and plays all
scenarios on all releases.

It needs a clone of informersim, in whose folder it is started, and the go command. The first start builds one program for
nearly all bugs, some minutes; later ones take seconds.

Exit codes: 0 every row is right; 1 one is not; 2 bad input.`,
		Example: `  informersim museum
  informersim museum k115658
  informersim museum k115658 --trace traces/
  informersim museum k115658 --report museum/      writes pages to step through both runs; begin with museum/index.html
  informersim museum --json --jobs 2
  informersim museum --write docs/museum           writes the pages
  informersim museum --real`,
		Args: cli.Usage(cobra.ArbitraryArgs),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	c.Flags().StringVar(&f.work, "work", "", "the folder for what is built (default one in the user's cache)")
	c.Flags().StringVar(&f.write, "write", "", "write the pages of the museum into this `folder`, or with --real its page to this file")
	c.Flags().BoolVar(&f.byRelease, "real", false, "play the releases of client-go that had the bugs, and those that mended them")
	c.Flags().StringVar(&f.visit.Traces, "trace", "", "write the traces of both runs of each bug into this `folder`")
	c.Flags().StringVar(&f.report, "report", "", "write the HTML reports of both runs of each bug into this `folder`, and a page that leads to them")
	c.Flags().IntVar(&f.visit.Jobs, "jobs", 1, "how many bugs are played at a time")
	c.Flags().BoolVar(&f.json, "json", false, "print a line of JSON for each bug, and one for the summary")
	return c
}

func (f *museumFlags) run(c *cobra.Command, args []string) error {
	if err := cli.NotEmpty(c, "work", "write", "trace", "report"); err != nil {
		return err
	}
	switch {
	case f.visit.Jobs < 1:
		return fmt.Errorf("--jobs %d: at least 1 bug has to be played at a time", f.visit.Jobs)
	case f.byRelease && (f.visit.Traces != "" || f.report != "" || c.Flags().Changed("jobs") || f.work != ""):
		return errors.New("--real builds no mutants and keeps no traces: leave out --trace, --report, --jobs and --work")
	case f.write != "" && len(args) > 0:
		return fmt.Errorf("--write writes the pages of all bugs: leave out %q", args)
	}
	root, err := mutation.Root(".")
	if err != nil {
		return err
	}
	all, err := museum.Collection(root)
	if err != nil {
		return err
	}
	pieces, err := museum.Select(all, args)
	if err != nil {
		return err
	}
	if err := f.checkWrite(); err != nil {
		return fmt.Errorf("--write: %w", err)
	}
	if f.byRelease {
		return f.real(c, root, pieces)
	}
	if f.work == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("%w; name a folder for what is built with --work", err)
		}
		f.work = filepath.Join(cache, "informersim", "museum")
	}
	for _, to := range []struct{ flag, dir string }{{"trace", f.visit.Traces}, {"report", f.report}} {
		if to.dir == "" {
			continue
		}
		if err := os.MkdirAll(to.dir, 0o777); err != nil {
			return fmt.Errorf("--%s: %w", to.flag, err)
		}
	}
	if f.report != "" && f.visit.Traces == "" {
		f.forget = true
		if f.visit.Traces, err = os.MkdirTemp("", "informersim-museum-*"); err != nil {
			return err
		}
		defer os.RemoveAll(f.visit.Traces)
	}
	verdicts, err := f.play(c, all, pieces)
	if err != nil {
		return err
	}
	if f.report != "" {
		if err := f.writeIndex(c.Context(), verdicts); err != nil {
			return err
		}
	}
	return f.conclude(c, root, verdicts)
}

// checkWrite refuses what may not be overwritten, before anything is played.
func (f *museumFlags) checkWrite() error {
	switch {
	case f.write == "":
		return nil
	case f.byRelease:
		return museum.CheckRealPage(f.write)
	}
	return museum.CheckPages(f.write)
}

func (f *museumFlags) play(c *cobra.Command, all, pieces []*museum.Piece) ([]*museum.Verdict, error) {
	release, err := workFolder(c, f.work)
	if err != nil {
		return nil, err
	}
	defer release()
	tree, err := mutation.OpenTree(c.Context(), ".", f.work)
	if err != nil {
		return nil, err
	}
	out := c.OutOrStdout()
	if !f.json {
		if err := museum.WriteHead(out); err != nil {
			return nil, err
		}
	}
	var verdicts []*museum.Verdict
	err = museum.Play(c.Context(), tree, all, pieces, f.visit, func(v *museum.Verdict) error {
		verdicts = append(verdicts, v)
		if err := f.writeReports(c.Context(), v); err != nil {
			return err
		}
		if f.json {
			return json.NewEncoder(out).Encode(v)
		}
		return v.WriteText(out)
	})
	return verdicts, err
}

// conclude says what it all comes to, and writes the pages.
func (f *museumFlags) conclude(c *cobra.Command, root string, verdicts []*museum.Verdict) error {
	summary := museum.Summarize(verdicts)
	var err error
	switch out := c.OutOrStdout(); {
	case f.json:
		err = json.NewEncoder(out).Encode(map[string]any{"summary": summary})
	case len(verdicts) == 1:
		err = verdicts[0].WriteDetail(out, root)
	default:
		_, err = fmt.Fprintf(out, "\n%s\n", summary)
	}
	if err != nil {
		return err
	}
	if summary.Wrong > 0 {
		return broken{summary.String()}
	}
	if f.write == "" {
		return nil
	}
	pages, err := museum.Pages(root, verdicts)
	if err != nil {
		return err
	}
	if err := museum.WritePages(f.write, pages); err != nil {
		return fmt.Errorf("--write: %w", err)
	}
	return nil
}
