package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/subjects"
)

// A subject with a host can make only one run at a time in a process, so an ensemble of it is spread over child processes of this
// program. A single run of it is made in one, too: it may end its process. Each reads a seed from every line of its input, with the quoted
// path of the trace, and answers with the run as a line of JSON.

// answer is a child's answer for a seed.
type answer struct {
	Run     *reports.Run
	Outputs []reports.Output // with -v
	Found   *foundRun        // of `informersim fuzz`, if it was asked for
	Error   string
	Code    int // the exit code for Error
}

// serveSeeds runs the seeds that a child reads, until its input ends.
func (r *runner) serveSeeds(in io.Reader, out io.Writer) error {
	in, stop := r.followParent(in)
	defer stop()
	enc := json.NewEncoder(out)
	for lines := bufio.NewScanner(in); lines.Scan(); {
		number, quoted, _ := strings.Cut(lines.Text(), " ")
		seed, err := strconv.ParseUint(number, 10, 64)
		path, badPath := strconv.Unquote(quoted)
		if err != nil || badPath != nil {
			return fmt.Errorf("--child: %q is not a seed and the quoted path of a trace", lines.Text())
		}
		a, err := r.here(r.c.Context(), seed, path)
		if err != nil {
			a = &answer{Error: err.Error(), Code: codeOf(err)}
		}
		if err := enc.Encode(a); err != nil {
			return fmt.Errorf("answering the parent process: %w", err)
		}
	}
	return nil
}

// here makes the run of a seed in this process; its trace goes to path unless that is empty.
func (r *runner) here(ctx context.Context, seed uint64, path string) (*answer, error) {
	res, err := r.decided(r.once(ctx, seed, path))
	if err != nil {
		return nil, err
	}
	a := &answer{Run: &res.Run}
	if r.flags.verbose {
		a.Outputs = outputs(r.scenario, res)
	}
	return a, nil
}

// answered is an error of a run in a child.
type answered struct {
	text string
	code int
}

func (e *answered) Error() string { return e.text }

// child is a process that runs seeds.
type child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *json.Decoder
	stderr bytes.Buffer
	// answered are the last seeds that it has answered.
	answered []uint64
}

// crashed tells whether a run has ended its process, which is all that is known of it.
func crashed(run *reports.Run) bool { return run.Violation != nil && run.Steps == 0 }

// startChild starts a process for the runs of r.
func (r *runner) startChild(ctx context.Context) (*child, error) {
	args := []string{"run", "--child", "--subject", r.subject.Name, "--strategy", r.flags.strategy, "--fault-mix", r.flags.mix,
		"--timeout", time.Duration(r.flags.timeout).String()}
	if r.flags.force {
		args = append(args, "--force")
	}
	if r.flags.verbose {
		args = append(args, "--verbose")
	}
	if r.flags.bounds != "" {
		args = append(args, "--bounds", r.flags.bounds)
	}
	args = append(args, interleaveArgs(r.flags.interleave)...)
	if r.file != "" {
		args = append(args, r.file)
	}
	return startChild(ctx, args)
}

// thisProgram returns the path of this program, to run it again.
func thisProgram() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program to run it again: %w", err)
	}
	return exe, nil
}

// startChild starts this program with arguments that make it a child.
func startChild(ctx context.Context, args []string) (*child, error) {
	exe, err := thisProgram()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.CommandContext(ctx, exe, args...)}
	c.cmd.Stderr = &c.stderr
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(os.Interrupt) } // so that it removes the file it is writing
	c.cmd.WaitDelay = 5 * time.Second
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = json.NewDecoder(bufio.NewReader(out))
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a child process: %w", err)
	}
	return c, nil
}

// ask has the child answer a request about a seed. again is the command that runs the seed alone. A run that ends its process with a
// panic is one that broke NoPanic.
func (c *child) ask(ctx context.Context, request string, seed uint64, again string) (*answer, error) {
	var a answer
	_, err := fmt.Fprintln(c.in, request)
	if err == nil {
		err = c.out.Decode(&a)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		dead, crash := c.died(seed, again), subjects.LastWords(c.stderr.String())
		if crash == "" && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) { // it has not said something else
			crash = dead.exited()
		}
		if crash != "" {
			return &answer{Run: &reports.Run{Violation: &reports.Violation{Property: property.NoPanic, Message: subjects.EndedProcess + "\n" + crash}}}, nil
		}
		return nil, dead
	}
	c.answered = append(c.answered[max(0, len(c.answered)-4):], seed)
	if a.Error != "" {
		return nil, &answered{a.Error, a.Code}
	}
	return &a, nil
}

// worker is a child, and another one when that has died.
type worker struct {
	start func() (*child, error)
	c     *child // nil for none
}

// ask has the child answer, and forgets one that has died.
func (w *worker) ask(ctx context.Context, request string, seed uint64, again string) (a *answer, err error) {
	if w.c == nil {
		if w.c, err = w.start(); err != nil {
			return nil, err
		}
	}
	a, err = w.c.ask(ctx, request, seed, again)
	if err == nil && crashed(a.Run) || errors.As(err, new(*deadWorker)) {
		w.c = nil
	}
	return a, err
}

// end ends the child.
func (w *worker) end() {
	if w.c != nil {
		w.c.close()
	}
}

// close ends the child.
func (c *child) close() {
	c.in.Close()
	_ = c.cmd.Wait() // its answers are complete, so its exit status does not matter
}

// apart tells whether the runs of so many workers are made in child processes. A guest has a process of its own already, which may end without
// harm. What can be read only once, such as a pipe, a child cannot read.
func (r *runner) apart(workers uint64) bool {
	return r.subject.Host != nil && r.readTwice() && (workers > 1 || !isGuest(r.subject))
}

// readTwice tells whether the files that describe the run can be read again.
func (r *runner) readTwice() bool {
	return !readOnce(r.file) && !readOnce(r.flags.mix)
}

// readOnce tells whether a file is one that a second process does not find as it was: a pipe, such as a terminal's or a shell's.
func readOnce(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// refuseReadOnce is the error of a file among several that a command of more than one process cannot use, nil if there is none.
func refuseReadOnce(command string, files ...string) error {
	for _, path := range files {
		if readOnce(path) {
			return fmt.Errorf("%s: it is no regular file, and %s reads it in more than one process: write what is in it to a file first", path, command)
		}
	}
	return nil
}

// runs returns functions with which one of several workers makes its runs and ends.
func (r *runner) runs(ctx context.Context, workers uint64) (one func(uint64) (*reports.Run, error), end func(), err error) {
	ask, end := func(seed uint64) (*answer, error) { return r.here(ctx, seed, r.tracePath(seed)) }, func() {}
	if r.apart(workers) {
		w := &worker{start: func() (*child, error) { return r.startChild(ctx) }}
		ask, end = func(seed uint64) (*answer, error) { return r.askFor(ctx, w, seed, r.tracePath(seed)) }, w.end
	}
	one = func(seed uint64) (*reports.Run, error) {
		a, err := ask(seed)
		if err != nil {
			return nil, err
		}
		return a.Run, nil
	}
	return one, end, nil
}

// identified has what is known of the run of a seed before it is made.
func (r *runner) identified(seed uint64) *reports.Run {
	return identityOf(r.scenario, &scenarios.Options{Subject: r.subject, Seed: seed, Strategy: r.flags.strategy, Mix: r.mix})
}

// identityOf has what is known of a run before it is made.
func identityOf(s *scenarios.Scenario, o *scenarios.Options) *reports.Run {
	run := &reports.Run{Scenario: s.Name, Subject: o.Subject.Name, Engine: o.Subject.Engine, Seed: o.Seed, Strategy: o.StrategyName()}
	if o.Mix != nil {
		run.Mix = o.Mix.Name
	}
	return run
}

// identify says of a run that has ended its process which one it was.
func identify(run, known *reports.Run) {
	run.Scenario, run.Subject, run.Engine, run.Seed, run.Strategy, run.Mix = known.Scenario, known.Subject, known.Engine, known.Seed, known.Strategy, known.Mix
}

// askFor has a child make the run of a seed, whose trace goes to path unless that is empty.
func (r *runner) askFor(ctx context.Context, w *worker, seed uint64, path string) (*answer, error) {
	known := r.identified(seed)
	a, err := w.ask(ctx, fmt.Sprintf("%d %q", seed, path), seed, r.commandLine(known))
	if err != nil {
		return nil, err
	}
	if crashed(a.Run) {
		identify(a.Run, known)
	}
	return a, nil
}

// alone makes the single run.
func (r *runner) alone() (*answer, error) {
	ctx, seed, path := r.c.Context(), r.seeds.first, r.flags.trace
	if !r.apart(1) {
		return r.here(ctx, seed, path)
	}
	c, err := r.startChild(ctx)
	if err != nil {
		return nil, err
	}
	w := &worker{c: c}
	// A child that is interrupted still answers, and says so in its trace.
	a, err := r.askFor(context.WithoutCancel(ctx), w, seed, path)
	w.end()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil || !crashed(a.Run) { // what it said of a crash is in the answer
		fmt.Fprint(r.c.ErrOrStderr(), c.stderr.String())
	}
	return a, err
}
