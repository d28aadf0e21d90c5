package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/internal/outfile"
	"github.com/informersim/informersim/properties/differential"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/generate"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo"
	"github.com/informersim/informersim/subjects/stack"
)

// maxCommands bounds generated scenarios. Beyond it they get slow, not better.
const maxCommands = 10_000

// diffFlags are the flags of `informersim diff`.
type diffFlags struct {
	seeds    string
	subject  string
	commands int
	keep     string
	force    bool
	timeout  timeLimit
	results  results
}

func newDiffCommand() *cobra.Command {
	f := &diffFlags{}
	c := &cobra.Command{
		Use:   "diff [FILE]",
		Short: "Run the same scenarios on the stack and on client-go and compare",
		Long: `diff plays a scenario on the stack and on client-go, with the same schedule, faults and random numbers, and compares at every
quiescent point: the requests that each informer made and when, the notifications that each handler got for each key, and the
contents of the Indexers. Without FILE it generates a scenario for every seed. What a scenario leaves open of its informers' queues,
streaming lists, pages, resyncs and replicas is drawn from the seed, the same for both.

The first difference is reduced to the commands that it needs, and printed as a script, with what was drawn written out. A side that
panics, hangs, leaks goroutines or tries again for ever differs, too, and so does a side that is not the same when it is run again.

Exit codes: 0 no difference, 1 differences, 2 bad input, 4 not decided in time, 5 a defect of informersim.`,
		Example: `  informersim diff --seeds 1000
  informersim diff --seeds 17..17 --keep difference.sim
  informersim diff --subject client-go@v0.31
  informersim diff scenarios/testdata/watch_410.sim`,
		Args: cli.Usage(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	c.Flags().StringVar(&f.seeds, "seeds", "", "run the seeds 1 to `N`, or N..M (default 100; 1 with FILE)")
	c.Flags().IntVar(&f.commands, "commands", 25, "the number of commands in a generated scenario, after its setup")
	c.Flags().StringVar(&f.keep, "keep", "", "write the first scenario that differs, reduced, to this `file`")
	c.Flags().StringVar(&f.subject, "subject", clientgo.Kind.Name, "what the stack is compared with: client-go, or client-go@`VERSION` for another release of it, client-go@FOLDER for a working copy")
	f.timeout.define(c)
	f.results.define(c)
	c.Flags().BoolVar(&f.force, "force", false, forceHelp)
	return c
}

func (f *diffFlags) seedRange(withFile bool) (seedRange, error) {
	s := f.seeds
	if s == "" {
		s = "100"
		if withFile {
			s = "1"
		}
	}
	if n, err := strconv.ParseUint(s, 10, 64); err == nil {
		if n == 0 {
			return seedRange{}, errors.New("--seeds must be at least 1")
		}
		return seedRange{first: 1, last: n, given: true}, nil
	}
	r, err := parseSeeds(s)
	if err != nil {
		return r, fmt.Errorf("--seeds %q: write a number like 100, or a range like 5..9", s)
	}
	return r, nil
}

// notCompared are actions that generated scenarios leave out: after the same number of steps the two engines are at different
// points, a writer's retries are due at the same instants as an informer's, without an order between them, and a worker that waits in Get takes
// its key within a step, which may be several pops in client-go.
var notCompared = []string{"step", "write", "write-fault", "get"}

func (f *diffFlags) run(c *cobra.Command, args []string) error {
	if err := cli.NotEmpty(c, "seeds", "keep", "subject"); err != nil {
		return err
	}
	if f.commands < 1 || f.commands > maxCommands {
		return fmt.Errorf("--commands %d: a generated scenario has 1 to %d commands", f.commands, maxCommands)
	}
	if err := f.timeout.check(); err != nil {
		return err
	}
	seeds, err := f.seedRange(len(args) > 0)
	if err != nil {
		return err
	}
	var file *scenarios.Scenario
	if len(args) > 0 {
		if file, err = loadScenario(c.Context(), args); err != nil {
			return err
		}
	}
	keep := scenarioTarget("--keep", f.keep, f.force, args...)
	if f.keep != "" {
		if err := keep.Check(); err != nil {
			return err
		}
	}
	if err := f.results.begin(c, append(args, f.keep)...); err != nil {
		return err
	}
	return f.results.end(c.Context(), f.compareAll(c, file, seeds, keep))
}

// compareAll compares the scenario of each seed.
func (f *diffFlags) compareAll(c *cobra.Command, file *scenarios.Scenario, seeds seedRange, keep outfile.Target) error {
	started := time.Now()
	left := stack.Kind
	right, err := hardyNamed(c.Context(), f.subject)
	switch {
	case err != nil:
		return err
	case right.Name == left.Name:
		return fmt.Errorf("--subject %s is what it would be compared with", f.subject)
	}
	f.results.name("diff", left.Name, right.Name)
	out := c.OutOrStdout()
	differ, n := 0, 0
	var informers reports.Configurations
	for seed := seeds.first; ; seed++ {
		s := file
		if s == nil {
			if s, err = f.generate(seed, right); err != nil {
				return err
			}
		}
		if s, err = s.Configured(seed, left, right); err != nil {
			return err
		}
		informers.Add(s.Configurations(true))
		d, err := f.compare(c.Context(), s, left, right, seed)
		if err != nil {
			err = fmt.Errorf("seed %d: %w", seed, err)
			if differ == 0 {
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "warning: not all seeds were run: %v\n", err)
			break
		}
		n++
		if d != nil {
			f.results.add(fmt.Sprintf("seed %d", seed), d.Topic, fmt.Sprintf("%s\ninformersim diff --seeds %d..%d", d, seed, seed))
			if differ++; differ > 1 {
				fmt.Fprintf(out, "seed %d also differs: %s\n", seed, d.Topic)
			} else {
				f.show(c, out, s, left, right, seed, d, keep)
			}
		}
		if seed == seeds.last {
			break
		}
	}
	fmt.Fprintf(out, "%s, %d differ\n", reports.Counted(n, "scenario"), differ)
	fmt.Fprintf(out, "  %s and %s · strategy fifo · %s\n", left.Name, right.Name, time.Since(started).Round(10*time.Millisecond))
	fmt.Fprintf(out, "  informers: %s\n", informers.String())
	if differ > 0 {
		return broken{"difference"}
	}
	f.results.add(fmt.Sprintf("%d scenarios are the same", n), "", "")
	return nil
}

// generate returns the scenario of a seed, without what the right side lacks. With a round robin over all clients, the order of clients that wait for the same instant
// would decide which one gets which replica, so each client draws its own.
func (f *diffFlags) generate(seed uint64, right subjects.Kind) (*scenarios.Scenario, error) {
	s, err := generate.Scenario(sim.NewStream(seed, "diff"), fmt.Sprintf("diff-seed%d", seed), f.commands, notCompared...)
	if err != nil {
		return nil, err
	}
	if s, err = scenarios.Parse(s.Name+".sim", []byte(strings.ReplaceAll(s.Text(), "replica=round-robin", "replica=choice"))); err != nil {
		return nil, err
	}
	return s.For(right)
}

// show reduces a difference and prints it.
func (f *diffFlags) show(c *cobra.Command, out io.Writer, s *scenarios.Scenario, left, right subjects.Kind, seed uint64, d *differential.Difference, keep outfile.Target) {
	before := len(s.File().Commands())
	again, err := f.compare(c.Context(), s, left, right, seed)
	switch {
	case err != nil:
		fmt.Fprintf(c.ErrOrStderr(), "warning: the difference is not reduced: %v\n", err)
	case again == nil:
		fmt.Fprintf(out, "not deterministic: seed %d did not differ when it was compared again, so it is not reduced\n", seed)
	default:
		// A long run among the attempts does not count, and an interrupted reduction shows what it has got to.
		ctx, cancel := f.limited(c.Context())
		defer cancel()
		s, d = differential.Shrink(ctx, s, left, right, seed, again)
	}
	fmt.Fprintf(out, "seed %d differs (reduced from %d commands to %d)\n%s\n%s\n", seed, before, len(s.File().Commands()), d, s.Text())
	if f.keep == "" {
		return
	}
	if err := keep.Write(context.WithoutCancel(c.Context()), []byte(s.Text())); err != nil {
		fmt.Fprintf(c.ErrOrStderr(), "warning: the scenario is not kept: %v\n", err)
	}
}

// compare runs both sides of a seed within the time limit of one run each.
func (f *diffFlags) compare(ctx context.Context, s *scenarios.Scenario, left, right subjects.Kind, seed uint64) (*differential.Difference, error) {
	return within(ctx, 2*f.timeout, seed, func(ctx context.Context) (*differential.Difference, error) {
		return differential.Compare(ctx, s, left, right, seed)
	})
}

// limited limits the time of a reduction to that of one comparison.
func (f *diffFlags) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if f.timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, 2*time.Duration(f.timeout))
}
