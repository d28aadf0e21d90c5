package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/informersim/informersim/cmd/internal/campaign"
	"github.com/informersim/informersim/internal/outfile"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/generate"
	"github.com/informersim/informersim/scenarios/minimal"
	"github.com/informersim/informersim/sim"
)

// drawn is the run of a seed, as scenarios.Run wants it.
func (z *fuzzer) drawn(seed uint64) (*scenarios.Scenario, scenarios.Options, error) {
	r, err := generate.OfSeed(seed, z.corpus)
	if err == nil {
		r.Scenario, err = r.Scenario.For(z.subject)
	}
	return r.Scenario, scenarios.Options{
		Subject: z.subject, Seed: seed, Strategy: r.Strategy, Mix: r.Mix, Properties: properties.All(), Versions: z.asked.Build,
		Interleave: z.interleave,
	}, err
}

// once makes the run of a seed. Its trace goes to out unless that is nil.
func (z *fuzzer) once(ctx context.Context, seed uint64, out io.Writer) (*scenarios.Result, error) {
	s, o, err := z.drawn(seed)
	if err != nil {
		return nil, &sim.DefectError{Why: err.Error()}
	}
	o.Trace = out
	var cover *scenarios.Cover
	o.Observe = func(w *scenarios.World) []sim.Observer {
		cover = scenarios.NewCover(w)
		return []sim.Observer{cover}
	}
	res, err := within(ctx, z.flags.timeout, seed, func(ctx context.Context) (*scenarios.Result, error) { return scenarios.Run(ctx, s, o) })
	if errors.As(err, new(*scenarios.ScriptError)) && len(z.corpus) == 0 {
		return nil, &sim.DefectError{Why: fmt.Sprintf("the generator has made a command that cannot be carried out: %v", err)}
	}
	if err == nil && cover != nil {
		res.Coverage = cover.Coverage()
	}
	return res, err
}

// worker returns the functions with which one of the workers makes runs and ends. A subject with a host has a process for each.
func (z *fuzzer) worker(ctx context.Context, from uint64) (one func(uint64) (*reports.Run, error), end func(), err error) {
	seed := func(i uint64) uint64 { return z.asked.Seed(z.part().Index, from+i) }
	if z.subject.Host == nil {
		return func(i uint64) (*reports.Run, error) {
			res, err := z.once(ctx, seed(i), nil)
			if err != nil {
				return nil, err
			}
			return &res.Run, nil
		}, func() {}, nil
	}
	w := &worker{start: func() (*child, error) { return z.startChild(ctx) }}
	return func(i uint64) (*reports.Run, error) {
		a, err := w.ask(ctx, strconv.FormatUint(seed(i), 10), seed(i), z.seedLine(seed(i)))
		if err != nil {
			return nil, err
		}
		return z.identified(a.Run, seed(i)), nil
	}, w.end, nil
}

func (z *fuzzer) startChild(ctx context.Context) (*child, error) {
	args := append([]string{
		"fuzz", "--child", "--subject", z.subject.Name, "--timeout", time.Duration(z.flags.timeout).String(), "--shrink", z.flags.shrink.String(),
	}, interleaveArgs(z.flags.interleave)...)
	return startChild(ctx, append(args, z.args...))
}

// seedLine returns the command that makes the run of a seed.
func (z *fuzzer) seedLine(seed uint64) string {
	line := "informersim fuzz"
	for _, path := range z.files {
		line += " " + reports.ShellPath(path)
	}
	line += fmt.Sprintf(" --seeds %d..%d", seed, seed)
	if z.subject.Name != defaultSubject {
		line += " --subject " + reports.ShellQuote(z.subject.Name)
	}
	if z.flags.interleave != "" {
		line += " --interleave " + z.flags.interleave
	}
	return line
}

// identified names a run that has ended its process, of which nothing else is known.
func (z *fuzzer) identified(run *reports.Run, seed uint64) *reports.Run {
	s, o, err := z.drawn(seed)
	if !crashed(run) || err != nil {
		return run
	}
	identify(run, identityOf(s, &o))
	return run
}

// toShrink is what a child is asked before a seed whose run is to be shrunk.
const toShrink = "shrink "

// serve answers the seeds that a child reads, until its input ends.
func (z *fuzzer) serve(in io.Reader, out io.Writer) error {
	in, stop := (&runner{c: z.c}).followParent(in)
	defer stop()
	enc := json.NewEncoder(out)
	for lines := bufio.NewScanner(in); lines.Scan(); {
		number, isShrink := strings.CutPrefix(lines.Text(), toShrink)
		seed, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return fmt.Errorf("--child: %q is not a seed", lines.Text())
		}
		if err := enc.Encode(z.answer(seed, isShrink)); err != nil {
			return fmt.Errorf("answering the parent process: %w", err)
		}
	}
	return nil
}

func (z *fuzzer) answer(seed uint64, isShrink bool) *answer {
	if isShrink { // what a child shrinks is the last that it is asked for
		z.subject = z.subject.OfMany()
		return &answer{Run: &reports.Run{}, Found: z.find(z.c.Context(), seed)}
	}
	res, err := z.once(z.c.Context(), seed, nil)
	if err != nil {
		return &answer{Error: err.Error(), Code: codeOf(err)}
	}
	return &answer{Run: &res.Run}
}

// part is the shard that this process works on.
func (z *fuzzer) part() *campaign.Shard { return z.state.Shards[0] }

// maxUndecided is how many seeds may have no verdict before a campaign ends.
const maxUndecided = 10

// tooManyUndecided is the error of a campaign that ends for that reason. Its exit code is the highest of those that the seeds would have.
type tooManyUndecided struct{ seeds []campaign.Undecided }

func (e *tooManyUndecided) Error() string {
	return fmt.Sprintf("%d seeds have no verdict, which is too many to go on", len(e.seeds))
}

func (e *tooManyUndecided) code() int { return highest(exitUndecided, e.seeds) }

// errTimeUp ends a campaign after --for.
var errTimeUp = errors.New("the time of --for is up")

// fuzz makes the runs, in the order of seeds, and reports them.
func (z *fuzzer) fuzz(junit outfile.Target) error {
	ctx, cancel := context.WithCancelCause(z.c.Context())
	defer cancel(nil)
	if z.flags.lasts > 0 {
		defer time.AfterFunc(z.flags.lasts, func() { cancel(errTimeUp) }).Stop()
	}
	part := z.part()
	left := z.asked.Runs(part.Index) - part.Done
	show := newFuzzProgress(z, z.countable(left))
	defer show.close()
	failed := z.findAgain(ctx, show)
	ended := campaign.Complete
	if failed != nil {
		ended, failed = z.end(ctx, failed)
	} else if left > 0 {
		workers := min(uint64(z.flags.workers), left)
		from := part.Done
		start := func(ctx context.Context) (func(uint64) (*reports.Run, error), func(), error) {
			return z.worker(ctx, from)
		}
		for i, out := range inOrder(ctx, left, workers, start) {
			seed := z.asked.Seed(part.Index, from+i)
			stop, err := z.take(ctx, seed, out, show)
			if err != nil || stop {
				cancel(nil)
				ended, failed = z.end(ctx, err)
				break
			}
			if err := show.saved(false); err != nil {
				ended, failed = campaign.Failed, err
				break
			}
		}
	}
	part.Ended = ended
	if ended == campaign.AtFinding && part.Done == z.asked.Runs(part.Index) {
		part.Ended = campaign.Complete
	}
	return z.report(show, junit, failed)
}

// countable returns how many runs are left for a progress bar, 0 if nobody waits for their end.
func (z *fuzzer) countable(left uint64) uint64 {
	if z.asked.Endless() {
		return 0
	}
	return left
}

// end says how a campaign has ended, and with what error.
func (z *fuzzer) end(ctx context.Context, err error) (string, error) {
	switch {
	case err == nil:
		return campaign.AtFinding, nil
	case errors.Is(context.Cause(ctx), errTimeUp):
		return campaign.TimeUp, nil
	case z.c.Context().Err() != nil || codeOf(err) == exitInterrupted:
		return campaign.Interrupted, fmt.Errorf("%w before seed %d", context.Canceled, z.asked.Seed(z.part().Index, z.part().Done))
	}
	return campaign.Failed, err
}

// take counts the run of a seed, and tells whether to stop after it.
func (z *fuzzer) take(ctx context.Context, seed uint64, out result[*reports.Run], show *fuzzProgress) (stop bool, err error) {
	if err := out.err; err != nil {
		code := codeOf(err)
		if ctx.Err() != nil || code == exitInterrupted {
			return false, err
		}
		if code != exitUndecided && code != exitDefect {
			return false, fmt.Errorf("seed %d: %w", seed, err)
		}
		z.state.Undecided = append(z.state.Undecided, campaign.Undecided{Seed: seed, Why: err.Error(), Code: code})
		z.part().Done++
		show.line("seed %d has no verdict: %v\n  alone: %s", seed, err, z.seedLine(seed))
		if len(z.state.Undecided) >= maxUndecided {
			return false, &tooManyUndecided{z.state.Undecided}
		}
		return false, nil
	}
	run := out.value
	if len(z.state.Properties) == 0 {
		z.state.Properties = run.Properties
	}
	if run.Passed() {
		z.count(run)
		show.done()
		return false, nil
	}
	if err := z.finding(run, show); err != nil {
		return false, err
	}
	show.done()
	return !z.flags.keepGoing, show.saved(true)
}

func (z *fuzzer) count(run *reports.Run) {
	z.part().Done++
	z.part().Add(run)
}

// finding shrinks, keeps and reports a run that failed.
func (z *fuzzer) finding(run *reports.Run, show *fuzzProgress) error {
	if run.Violation != nil {
		if known := z.state.Known(minimal.Reason(run.Violation)); known != nil {
			z.state.Count(known, run.Seed)
			z.count(run)
			return nil
		}
	}
	show.line("seed %d breaks %s; shrinking it", run.Seed, run.Verdict())
	x := z.shrunk(run)
	interrupted := z.c.Context().Err()
	if x.Cut = interrupted != nil && !x.Complete && z.flags.shrink > 0; x.Cut && z.state.Has(x.Name) {
		return interrupted // what is there already shows it
	}
	if z.state.Has(x.Name) {
		z.state.Find(&x.Finding)
		z.count(run)
		return nil
	}
	path := z.keeper.FindingPath(&x.Finding)
	if err := z.keeper.Keep(&x.Finding, x.Files); err != nil {
		lost := &lostFinding{err}
		if z.folder != nil { // The seed does not count, so that a resumed campaign finds it again.
			z.state.Lost = true
			return errors.Join(z.print(x, ""), lost)
		}
		fmt.Fprintf(z.c.ErrOrStderr(), "warning: %v\n", lost)
		path = ""
	}
	z.state.Find(&x.Finding)
	if x.Cut {
		return errors.Join(z.print(x, path), interrupted)
	}
	z.count(run)
	return z.print(x, path)
}

// findAgain makes anew what is gone of the findings in the folder of a campaign that goes on: their seeds are done, and nothing else would show them.
func (z *fuzzer) findAgain(ctx context.Context, show *fuzzProgress) error {
	if z.folder == nil {
		return nil
	}
	gone := z.folder.Gone(z.state)
	if len(gone) == 0 {
		return nil
	}
	one, end, err := z.worker(ctx, 0)
	if err != nil {
		return err
	}
	defer end()
	for _, old := range gone {
		show.line("files of the finding %s are gone or cut short; making the run of seed %d again", old.Name, old.Seed)
		run, err := one(z.asked.Run(old.Seed))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && run.Passed() {
			err = errors.New("it passes now")
		}
		if err != nil {
			show.line("warning: the files of the finding %s are not made anew: seed %d: %v", old.Name, old.Seed, err)
			continue
		}
		x := z.shrunk(run)
		if err := z.c.Context().Err(); err != nil {
			return err
		}
		x.Name, x.Count, x.Seeds = old.Name, old.Count, old.Seeds
		x.Files[readmeFile] = []byte(readme(x))
		if err := z.folder.Keep(&x.Finding, x.Files); err != nil {
			return &lostFinding{err}
		}
		*old = x.Finding
	}
	return show.saved(true)
}

// lostFinding is the error of a finding that was reported and could not be written to the folder of its campaign.
type lostFinding struct{ err error }

func (e *lostFinding) Error() string { return fmt.Sprintf("the finding is not kept: %v", e.err) }
