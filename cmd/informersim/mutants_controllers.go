package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/internal/mutation"
)

// controllersSeeds is how many seeds each mutant of a controller is given, unless --runs says otherwise: as many as a test makes by itself.
const controllersSeeds = 20

// runControllers is run with --controllers.
func (f *mutantsFlags) runControllers(c *cobra.Command, args []string) error {
	for _, name := range []string{"subject", "ranges", "shrink", "json"} {
		if c.Flags().Changed(name) {
			return fmt.Errorf("--%s is not for --controllers, whose mutants are run by the tests of wild/kubernetes", name)
		}
	}
	trial := mutation.Trial{Seeds: controllersSeeds, Timeout: f.search.Timeout}
	if c.Flags().Changed("runs") {
		trial.Seeds = int(f.search.Runs)
	}
	tree, mutants, all, err := f.open(c, args, mutation.OpenControllers)
	if err != nil {
		return err
	}
	if f.update {
		if err := tree.CheckControllersDocs(trial, all, mutants); err != nil {
			return err
		}
	}
	out := c.OutOrStdout()
	if err := mutation.WriteControllersHead(out); err != nil {
		return err
	}
	var results []*mutation.Tried
	err = tree.TryControllers(c.Context(), mutants, f.jobs, trial, func(r *mutation.Tried) error {
		results = append(results, r)
		return r.WriteText(out)
	})
	if err != nil {
		return err
	}
	summary, failed := mutation.SummarizeTried(results)
	_, err = fmt.Fprintf(out, "\n%s\n", summary)
	if err == nil && f.update {
		err = tree.UpdateControllersDocs(trial, all, results)
	}
	if err == nil && failed > 0 {
		return broken{fmt.Sprintf("%d of them are not what their files say", failed)}
	}
	return err
}
