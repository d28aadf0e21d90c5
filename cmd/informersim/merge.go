package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/campaign"
	"github.com/informersim/informersim/cmd/internal/cli"
)

// mergeFlags are the flags of `informersim merge`.
type mergeFlags struct {
	out, junit string
	json       bool
}

func newMergeCommand() *cobra.Command {
	f := &mergeFlags{}
	c := &cobra.Command{
		Use:   "merge DIR... --out DIR",
		Short: "Join what the shards of fuzz have found",
		Long: `merge reads the folders that informersim fuzz --shard I/N --out DIR has written, one for each shard, and writes their sum to the
folder --out, which must be new or empty: each finding once, for the lowest of its seeds, and all counts. Shards that are missing, and
seeds that were not run, are named.

Exit codes: 0 all seeds were run and no property broke, 1 findings, 2 bad input, 4 no findings, but shards, seeds or verdicts are
missing, 5 a defect of informersim.`,
		Example: `  informersim merge shard1 shard2 shard3 --out all
  informersim merge shards/* --out all --junit all.xml`,
		Args: cli.Usage(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	c.Flags().StringVar(&f.out, "out", "", "write the sum to this empty or new `folder`")
	c.Flags().StringVar(&f.junit, "junit", "", "write the results to this `file`, as JUnit does")
	c.Flags().BoolVar(&f.json, "json", false, "print the sum as a JSON object instead of text")
	return c
}

func (f *mergeFlags) run(c *cobra.Command, args []string) error {
	if err := cli.NotEmpty(c, "out", "junit"); err != nil {
		return err
	}
	if f.out == "" {
		return errors.New("merge needs --out, the folder for the sum")
	}
	junit := junitTarget(c, f.junit, nil)
	if f.junit != "" {
		if err := junit.Check(); err != nil {
			return err
		}
	}
	all, err := campaign.Merge(c.Context(), args, f.out)
	if err != nil {
		return err
	}
	wrote := writeResults(c.Context(), all, junit)
	if f.json {
		err = all.WriteJSON(c.OutOrStdout())
	} else {
		err = all.WriteText(c.OutOrStdout(), f.out)
	}
	return outcomeOf(all, c.ErrOrStderr(), errors.Join(wrote, err))
}

// outcomeOf returns the error that ends a command with the exit code for a campaign. A finding counts, whatever else went wrong.
func outcomeOf(c *campaign.Campaign, stderr io.Writer, err error) error {
	if len(c.Findings) > 0 || c.Lost {
		if err != nil && !errors.Is(err, context.Canceled) {
			fmt.Fprintf(stderr, "error: %v\n", err)
		}
		return broken{c.Verdict()}
	}
	if err != nil {
		return err
	}
	code := highest(exitOK, c.Undecided)
	if code == exitOK && (c.Nothing() || c.Merged && len(c.Missing()) > 0) {
		code = exitUndecided
	}
	if code != exitOK {
		return reported(code)
	}
	return nil
}

// highest returns the highest of an exit code and those of seeds without a verdict.
func highest(code int, seeds []campaign.Undecided) int {
	for _, u := range seeds {
		code = max(code, u.Code)
	}
	return code
}
