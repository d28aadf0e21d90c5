package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// ownVersions are the versions of this program. It is a variable so that a test can be another build.
var ownVersions = versions

// replayer replays a trace, twice if the first time differs from it.
type replayer struct {
	ctx     context.Context
	timeout timeLimit // of each replay
	path    string    // as given
	file    string    // the trace, which can be read again
	dir     string    // for temporary files; "" for none so far
	header  *sim.Header
	subject subjects.Kind
	cut     *sim.TraceError // what the file lacks at its end
}

// newReplayer returns a replayer of the trace at path. It has no subject yet. The caller closes it.
func newReplayer(ctx context.Context, path string, timeout timeLimit) (*replayer, error) {
	r := &replayer{ctx: ctx, timeout: timeout, path: path, file: path}
	if err := r.begin(); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// onOwn has the replayer play on the trace's subject.
func (r *replayer) onOwn() (err error) {
	if r.subject, err = hardyNamed(r.ctx, r.header.Subject); err != nil {
		return fmt.Errorf("%s:1: %w; informersim replay --subject plays it on another one", r.path, err)
	}
	return nil
}

func (r *replayer) begin() error {
	if info, err := os.Stat(r.path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		if err := r.spool(); err != nil {
			return err
		}
	}
	in, tr, err := r.open()
	var broken *sim.TraceError
	if errors.As(err, &broken) && broken.Cut != sim.NotCut {
		return fmt.Errorf("%w; its header is not complete, so no step of it can be replayed", err)
	}
	if err != nil {
		return err
	}
	defer in.Close()
	h := tr.Header()
	if h.Subject == simtestSubject {
		return errSimtest
	}
	r.header = &h
	if _, _, err := scenarios.OfTrace(h, scenarios.Options{}); err != nil {
		return fmt.Errorf("%s:1: %w", r.path, err)
	}
	return nil
}

// spool copies what can be read once only, such as a pipe, if it begins as a trace does: /dev/zero never ends.
func (r *replayer) spool() error {
	in, err := cli.Open(r.ctx, r.path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := r.temp("trace")
	if err != nil {
		return err
	}
	r.file = out.Name()
	if _, err = sim.NewTraceReader(r.path, io.TeeReader(in, out)); err == nil {
		_, err = io.Copy(out, in)
	}
	return errors.Join(err, out.Close())
}

func (r *replayer) temp(name string) (f *os.File, err error) {
	if r.dir == "" {
		if r.dir, err = os.MkdirTemp("", "informersim-replay-"); err != nil {
			return nil, err
		}
	}
	return os.Create(filepath.Join(r.dir, name))
}

func (r *replayer) close() {
	if r.dir != "" {
		os.RemoveAll(r.dir)
	}
}

// open opens the trace; its errors name the file as it was given.
func (r *replayer) open() (io.Closer, *sim.TraceReader, error) {
	in, err := openTrace(r.file)
	if err != nil {
		return nil, nil, err
	}
	tr, err := sim.NewTraceReader(r.path, in)
	if err != nil {
		in.Close()
		return nil, nil, err
	}
	return in, tr, nil
}

// picks returns the choices of a guided run, which only its trace knows.
func (r *replayer) picks() ([]sim.Pick, error) {
	in, tr, err := r.open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	picks, err := sim.ReadPicks(tr)
	var broken *sim.TraceError
	if errors.As(err, &broken) && broken.Cut != sim.NotCut {
		err = nil
	}
	return picks, err
}

// follow replays the trace once. The run's own trace goes to out unless that is nil. It returns the number of the trace's steps.
func (r *replayer) follow(out io.Writer) (*scenarios.Followed, uint64, error) {
	in, tr, err := r.open()
	if err != nil {
		return nil, 0, err
	}
	defer in.Close()
	o := scenarios.Options{Subject: r.subject, Properties: properties.All(), Trace: out}
	if r.header.Strategy == scenarios.Guided {
		if o.Picks, err = r.picks(); err != nil {
			return nil, 0, err
		}
	}
	f, err := within(r.ctx, r.timeout, r.header.Seed, func(ctx context.Context) (*scenarios.Followed, error) {
		return scenarios.Follow(ctx, tr, o)
	})
	switch {
	case err == nil:
	case f != nil && f.Diverged != nil && r.ctx.Err() == nil && !errors.As(err, new(*sim.TraceError)):
		return nil, 0, fmt.Errorf("%s: it differs from the trace at step %d (%s), and then its run could not go on: %w",
			r.path, f.Diverged.Step, r.diverge(f).Why, err)
	default:
		return nil, 0, err
	}
	return f, tr.Steps(), nil
}

// replay replays the trace and reports its run and how that compares.
func (r *replayer) replay(verbose bool) (reports.Report, error) {
	f, steps, err := r.follow(nil)
	if err != nil {
		return reports.Report{}, err
	}
	r.cut = f.Cut
	if steps == 0 && f.Early {
		return reports.Report{}, fmt.Errorf("%s: the trace ends before its first step, so there is nothing to replay: %s", r.path, reports.EndedEarly(f.End, f.Cut))
	}
	compared := &reports.Replayed{
		Trace: r.path, Steps: steps, Ended: reports.EndedEarly(f.End, f.Cut), Divergence: r.diverge(f),
		WrittenBy: r.header.Versions, ReplayedBy: versionsWith(r.subject.Name),
	}
	replay := "informersim replay " + reports.ShellPath(r.path)
	if r.subject.Name == r.header.Subject {
		compared.Verify = "informersim verify " + reports.ShellPath(r.path)
	} else {
		compared.Subject = r.header.Subject
		replay += " --subject " + reports.ShellPath(r.subject.Name)
	}
	if f.End != nil {
		compared.Verdict = f.End.Verdict
	}
	report := reports.Report{Run: &f.Run, Replayed: compared, Replay: []string{replay}}
	file := r.file
	if compared.Divergence != nil {
		if file, err = r.again(f, compared); err != nil {
			return report, err
		}
	}
	if verbose {
		report.Outputs = outputs(f.Scenario, f.Result)
	}
	if f.Passed() {
		report.Replay = nil
		return report, nil
	}
	if line := r.seedLine(f); line != "" {
		report.Replay = append(report.Replay, line)
	}
	report.Story, err = storyOf(&f.Run, file)
	return report, err
}

// again replays a trace that differs once more: two replays by one program must agree. It returns the file with the run's own
// trace.
func (r *replayer) again(first *scenarios.Followed, compared *reports.Replayed) (string, error) {
	out, err := r.temp("again")
	if err != nil {
		return "", err
	}
	defer out.Close()
	second, _, err := r.follow(out)
	switch {
	case err != nil:
		return "", err
	case second.Hash != first.Hash || second.Steps != first.Steps || second.Verdict() != first.Verdict() || unlike(first.Diverged, second.Diverged):
		compared.NotDeterministic = fmt.Sprintf("replayed twice, the trace gives two runs: hash %016x after %d steps (%s), and %016x after %d (%s)",
			first.Hash, first.Steps, first.Verdict(), second.Hash, second.Steps, second.Verdict())
	case compared.Subject == "" && reports.SameBuild(compared.WrittenBy, compared.ReplayedBy):
		compared.NotDeterministic = "the program that wrote the trace is this one, " + reports.Build(compared.WrittenBy)
	}
	return out.Name(), nil
}

// unlike reports whether two replays differ from their trace in different ways.
func unlike(a, b *sim.DivergedError) bool {
	if a == nil || b == nil {
		return a != b
	}
	return a.Step != b.Step || a.Why != b.Why
}

// diverge says how a run differs from its trace, nil if it does not. Steps and hashes may be the same, and the verdict not.
func (r *replayer) diverge(f *scenarios.Followed) *reports.Divergence {
	if f.Diverged != nil {
		var commands []string
		for _, c := range f.Scenario.File().Commands() {
			bare := *c
			bare.Comment = ""
			commands = append(commands, bare.String())
		}
		verdict := f.Verdict()
		if f.Diverged.Trace == nil && f.End != nil {
			verdict = f.End.Verdict
		}
		return reports.Diverge(f.Diverged, commands, verdict)
	}
	if f.End == nil || f.Early || f.End.Verdict == f.Verdict() {
		return nil
	}
	return &reports.Divergence{Step: f.Steps, At: f.Virtual, Why: fmt.Sprintf(
		"every step is the same, but by its end line the trace's run %s, and here it %s: what is checked has changed, or the end line was edited",
		reports.Ended(f.End.Verdict), reports.Ended(f.Verdict()))}
}

// seedLine returns the command that makes the run from its seed, "" if it is not known: a trace does not name the file of its script.
func (r *replayer) seedLine(f *scenarios.Followed) string {
	if r.header.Strategy == scenarios.Guided {
		return "" // only the trace has the schedule
	}
	line := &runner{flags: &runFlags{strategy: r.header.Strategy, subject: r.subject.Name}}
	if r.header.Mix != nil {
		var drawn struct{ Name string }
		if json.Unmarshal(r.header.Mix, &drawn) != nil {
			return ""
		}
		mix, err := fault.MixNamed(drawn.Name)
		if err != nil {
			return ""
		}
		again, err := json.Marshal(mix.Draw(r.header.Seed))
		if err != nil || !bytes.Equal(again, r.header.Mix) {
			return ""
		}
		line.flags.mix = drawn.Name
	}
	if r.wrote(scenarios.BuiltIn()) {
		return line.commandLine(&f.Run)
	}
	for _, dir := range []string{"", filepath.Dir(r.path)} {
		line.file = filepath.Join(dir, f.Scenario.Name+".sim")
		if info, err := os.Stat(line.file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if s, err := scenarios.Load(line.file); err == nil && r.wrote(s) {
			return line.commandLine(&f.Run)
		}
	}
	return ""
}

// wrote reports whether the trace's script is that of a scenario, with what the seed draws where it leaves something open.
func (r *replayer) wrote(s *scenarios.Scenario) bool {
	if s.Text() == r.header.Script {
		return true
	}
	drawn, err := s.Configured(r.header.Seed, r.subject)
	return err == nil && drawn.Text() == r.header.Script
}
