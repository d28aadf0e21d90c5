package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/internal/mutation"
	"github.com/informersim/informersim/reports"
)

// mutantsFlags are the flags of `informersim mutants`.
type mutantsFlags struct {
	dir     string
	work    string
	subject string
	jobs    int
	json    bool
	update  bool
	// controllers means the mutants of released controllers.
	controllers bool
	search      mutation.Search
}

func newMutantsCommand() *cobra.Command {
	f := &mutantsFlags{}
	c := &cobra.Command{
		Use:   "mutants [PATTERN...]",
		Short: "Put defects into the stack, client-go and the fake server, and see which property finds each",
		Long: `mutants shows that the properties bite. It takes the defects of properties/mutants/*.txtar, puts them into the source (of the stack,
the work queue, client-go as go.mod has it, or the fake server) with go build -overlay, and explores the program with one defect
at a time, by generated scenarios, until a property breaks. Nothing else decides: no transcript, no second implementation.

Each of several disjoint ranges of seeds is searched as if it were the only one; the table shows the median of the runs that it took,
and what the first finding was shrunk to. Each finding is tried without the mutant, too, where it must not be one. PATTERN is a part of a name, a subject, a bug (k115658), or the beginning of a file's path.

--controllers puts defects into Kubernetes' own controllers instead, those of wild/kubernetes/mutants/*.txtar, and runs a test of wild/kubernetes for each: first
while only what needs no knowledge of the controller judges, such as the properties of simtest.WellBehaved and client-go's mutation detector, and where these find nothing,
once more with the test's own invariants. PATTERN may be a test's name, too. --runs is then the number of seeds, 20 by default, --timeout what one takes in the mean, and --dir,
--work, --jobs and --update are as ever; the other flags are for the rest. The first time it compiles a release of Kubernetes, which takes minutes.

It needs a clone of informersim, in whose folder it is started, and the go command.

Exit codes: 0 all are killed, except those whose files say why they survive; 1 one survives, does not fit the source, does not compile,
is killed although its file says that it survives, or what it breaks also breaks without it; 2 bad input.`,
		Example: `  informersim mutants --runs 200 --ranges 1
  informersim mutants k115658
  informersim mutants informer/workqueue/ --jobs 2
  informersim mutants --update                     writes the table of docs/mutants.md, and what survives
  informersim mutants k115658 --update             writes only these rows; search as far as the table says that it did
  informersim mutants --controllers TestJob        the defects of the controller that this test runs
  informersim mutants --controllers --jobs 2 --update     writes the table of docs/wild.md`,
		Args: cli.Usage(cobra.ArbitraryArgs),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	c.Flags().StringVar(&f.dir, "dir", "", "the folder with the mutants (default properties/mutants of the clone, or wild/kubernetes/mutants)")
	c.Flags().StringVar(&f.work, "work", "", "the folder for what is built (default one in the user's cache)")
	c.Flags().StringVar(&f.subject, "subject", "", "only the mutants of this subject: stack or client-go")
	c.Flags().IntVar(&f.jobs, "jobs", 1, "how many mutants are built and run at a time")
	c.Flags().Uint64Var(&f.search.Runs, "runs", 2000, "how many runs are made at most in each range of seeds, or of a test with --controllers (then default 20)")
	c.Flags().IntVar(&f.search.Ranges, "ranges", 5, "how many ranges of seeds are searched")
	c.Flags().IntVar(&f.search.Shrink, "shrink", 2000, "how many runs may be made to shrink a finding; 0 for none")
	c.Flags().DurationVar(&f.search.Timeout, "timeout", time.Minute, "the real time that one run may take")
	c.Flags().BoolVar(&f.controllers, "controllers", false, "the mutants of released controllers, in wild/kubernetes/mutants")
	c.Flags().BoolVar(&f.json, "json", false, "print a line of JSON for each mutant, and one for the summary")
	c.Flags().BoolVar(&f.update, "update", false, "write the table of docs/mutants.md, or docs/wild.md, or the rows of the mutants that PATTERN means")
	return c
}

func (f *mutantsFlags) check(c *cobra.Command) error {
	if err := cli.NotEmpty(c, "dir", "work", "subject"); err != nil {
		return err
	}
	switch {
	case f.jobs < 1:
		return fmt.Errorf("--jobs %d: at least 1 mutant has to be tried at a time", f.jobs)
	case f.search.Ranges < 1:
		return fmt.Errorf("--ranges %d: at least 1 range of seeds has to be searched", f.search.Ranges)
	case f.search.Runs < 1 || f.search.Runs > mutation.MaxRuns:
		return fmt.Errorf("--runs %d: use 1 to %d, because the ranges of seeds must not overlap", f.search.Runs, mutation.MaxRuns)
	case f.search.Shrink < 0:
		return fmt.Errorf("--shrink %d is negative; use 0 to shrink nothing", f.search.Shrink)
	case f.search.Timeout <= 0:
		return fmt.Errorf("--timeout %v: a run needs some time", f.search.Timeout)
	}
	if f.subject != "" {
		_, err := builtIn(f.subject) // of this program: a mutant is built into it
		return err
	}
	return nil
}

func (f *mutantsFlags) run(c *cobra.Command, args []string) error {
	if err := f.check(c); err != nil {
		return err
	}
	if f.work == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("%w; name a folder for what is built with --work", err)
		}
		f.work = filepath.Join(cache, "informersim", "mutants")
		if f.controllers {
			f.work += "-of-controllers"
		}
	}
	release, err := workFolder(c, f.work)
	if err != nil {
		return err
	}
	defer release()
	if f.controllers {
		return f.runControllers(c, args)
	}
	tree, mutants, all, err := f.open(c, args, mutation.OpenTree)
	if err != nil {
		return err
	}
	if f.update {
		if err := tree.CheckDocs(f.search, names(all), mutants); err != nil {
			return err
		}
	}
	results, err := f.hunt(c, tree, mutants)
	if err != nil {
		return err
	}
	summary := mutation.Summarize(results)
	if f.json {
		err = json.NewEncoder(c.OutOrStdout()).Encode(mutantLine{Version: reports.JSONVersion, Summary: &summary})
	} else {
		_, err = fmt.Fprintf(c.OutOrStdout(), "\n%s\n", summary)
	}
	if err == nil && f.update {
		err = tree.UpdateDocs(f.search, names(all), results)
	}
	if err == nil && summary.Failed > 0 {
		return broken{summary.String()}
	}
	return err
}

func names(mutants []*mutation.Mutant) []string {
	var all []string
	for _, m := range mutants {
		all = append(all, m.Name)
	}
	return all
}

// mutantLine is what --json prints: a mutant, or the summary at the end.
type mutantLine struct {
	Version int `json:"version"`
	*mutation.Result
	Summary *mutation.Summary `json:"summary,omitempty"`
}

// open opens the clone for the mutants that are meant.
func (f *mutantsFlags) open(c *cobra.Command, args []string, open func(ctx context.Context, from, dir string) (*mutation.Tree, error)) (tree *mutation.Tree, selected, all []*mutation.Mutant, err error) {
	if tree, err = open(c.Context(), ".", f.work); err == nil {
		selected, all, err = f.selected(tree, args)
	}
	return tree, selected, all, err
}

// selected returns the mutants that are meant, and all that there are.
func (f *mutantsFlags) selected(tree *mutation.Tree, args []string) (selected, all []*mutation.Mutant, err error) {
	dir := f.dir
	if dir == "" {
		dir = tree.Mutants()
	}
	all, err = mutation.Load(os.DirFS(dir))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", dir, err)
	}
	if len(all) == 0 {
		if _, err := os.Stat(dir); err != nil {
			return nil, nil, fmt.Errorf("--dir: %w", err)
		}
		return nil, nil, fmt.Errorf("%s has no mutants: each is a file NAME.txtar", dir)
	}
	for _, m := range all {
		if (f.subject == "" || m.Subject == f.subject) && (len(args) == 0 || slices.ContainsFunc(args, m.Matches)) {
			selected = append(selected, m)
		}
	}
	for _, pattern := range args {
		if !slices.ContainsFunc(selected, func(m *mutation.Mutant) bool { return m.Matches(pattern) }) {
			return nil, nil, fmt.Errorf("of the %d mutants in %s none is meant by %q", len(all), dir, pattern)
		}
	}
	if len(selected) == 0 {
		return nil, nil, fmt.Errorf("of the %d mutants in %s none is meant", len(all), dir)
	}
	return selected, all, tree.CheckProperties(selected)
}

func (f *mutantsFlags) hunt(c *cobra.Command, tree *mutation.Tree, mutants []*mutation.Mutant) ([]*mutation.Result, error) {
	out := c.OutOrStdout()
	if !f.json {
		if err := mutation.WriteHead(out); err != nil {
			return nil, err
		}
	}
	var results []*mutation.Result
	err := tree.Hunt(c.Context(), mutants, f.jobs, f.search, func(r *mutation.Result) error {
		results = append(results, r)
		if f.json {
			return json.NewEncoder(out).Encode(mutantLine{Version: reports.JSONVersion, Result: r})
		}
		return r.WriteText(out)
	})
	return results, err
}
