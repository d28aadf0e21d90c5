package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"
)

// endTime is how long a process whose parent is gone may take to end well, and a parent waits for one that does not answer.
const endTime = 5 * time.Second

// followParent ends the runs of a child when its input ends: its parent has closed it, or is dead, however it died. Seeds are read
// from the returned reader. A run that does not end, as one that hangs, ends with the process. stop says that there is none.
func (r *runner) followParent(in io.Reader) (seeds io.Reader, stop func()) {
	ctx, cancel := context.WithCancel(r.c.Context())
	r.c.SetContext(ctx)
	var stopped atomic.Bool
	out, copied := io.Pipe()
	go func() {
		_, err := io.Copy(copied, in)
		cancel()
		copied.CloseWithError(err)
		time.Sleep(endTime)
		if !stopped.Load() {
			os.Exit(exitInterrupted)
		}
	}()
	return out, func() { stopped.Store(true); out.Close() }
}

// deadWorker is the error of a seed whose process ended before it answered.
type deadWorker struct {
	seed   uint64
	before []uint64 // the seeds that it had answered last
	status string
	code   int    // its exit code, -1 if a signal has ended it
	said   string // the end of its standard error
	again  string // the command that runs the seed alone
}

// exited says of a process that the run has ended, by os.Exit or klog.Fatal, how; "" of one that a signal has ended, or this program itself.
func (e *deadWorker) exited() string {
	if e.code < 0 || e.code == exitInterrupted || e.code >= exitBadInput && e.code <= exitDefect {
		return ""
	}
	return strings.TrimRight(e.status+"\n"+e.said, "\n")
}

func (e *deadWorker) Error() string {
	text := fmt.Sprintf("the process that ran it ended without an answer: %s", e.status)
	if len(e.before) > 0 {
		text += fmt.Sprintf(", after seeds %s", strings.Trim(fmt.Sprint(e.before), "[]"))
	}
	if e.said != "" {
		text += "\n  " + strings.ReplaceAll(e.said, "\n", "\n  ")
	}
	return text + "\n  alone: " + e.again
}

// died returns the error of a child that did not answer for a seed, and ends it.
func (c *child) died(seed uint64, again string) *deadWorker {
	c.in.Close()
	giveUp := time.AfterFunc(endTime, func() { _ = c.cmd.Process.Kill() })
	err := c.cmd.Wait()
	giveUp.Stop()
	status := "exit status 0"
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		status = exit.String()
	case err != nil:
		status = err.Error()
	}
	if status == "signal: killed" {
		status += " (the system does that when memory runs out)"
	}
	return &deadWorker{seed: seed, before: c.answered, status: status, code: c.cmd.ProcessState.ExitCode(), said: lastWords(c.stderr.String()), again: again}
}

// lastWords returns the last lines of a text.
func lastWords(text string) string {
	const most = 5
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}

// lostSeeds are the seeds whose processes died, as an error once the others have gone on without them.
type lostSeeds struct{ seeds []uint64 }

// mostLost is how many processes may die before a run ends.
const mostLost = 10

// note reports a dead worker, and returns whether the run goes on.
func (l *lostSeeds) note(r *runner, err error) bool {
	var dead *deadWorker
	if !errors.As(err, &dead) || len(l.seeds) >= mostLost {
		return false
	}
	l.seeds = append(l.seeds, dead.seed)
	fmt.Fprintf(r.c.ErrOrStderr(), "error: seed %d: %v\n", dead.seed, dead)
	return true
}

// error returns an error if any seed was lost.
func (l *lostSeeds) error() error {
	if len(l.seeds) == 0 {
		return nil
	}
	return l
}

func (l *lostSeeds) Error() string {
	return fmt.Sprintf("%s no verdict, because the processes that ran them died: %s", have(len(l.seeds)), strings.Trim(fmt.Sprint(l.seeds), "[]"))
}

func have(seeds int) string {
	if seeds == 1 {
		return "1 seed has"
	}
	return fmt.Sprintf("%d seeds have", seeds)
}
