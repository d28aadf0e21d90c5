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

	"github.com/informersim/informersim/scenarios"
)

// A subject with a host has one run at a time in a process, so an ensemble of it is dealt out to processes: this program
// again, as a worker, which reads a seed from each line of its input and answers with the result as a line of JSON.

// message is a worker's answer.
type message struct {
	Result *wireResult
	Error  string
}

// wireResult is a result without the outputs of its commands, which nobody asks of an ensemble.
type wireResult struct {
	*scenarios.Result
	Outputs *struct{} `json:",omitempty"` // hides Result.Outputs
}

// work is what a worker does, until its input ends.
func (r *runner) work(in io.Reader, out io.Writer) error {
	enc := json.NewEncoder(out)
	for lines := bufio.NewScanner(in); lines.Scan(); {
		seed, err := strconv.ParseUint(lines.Text(), 10, 64)
		if err != nil {
			return fmt.Errorf("a worker reads seeds, not %q", lines.Text())
		}
		var m message
		res, err := r.once(r.c.Context(), seed, r.tracePath(seed))
		if err != nil {
			m.Error = err.Error()
		} else {
			m.Result = &wireResult{Result: res}
		}
		if err := enc.Encode(&m); err != nil {
			return fmt.Errorf("a worker's answer: %w", err)
		}
	}
	return nil
}

// worker is a process that runs seeds.
type worker struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *json.Decoder
	stderr bytes.Buffer
}

// startWorker starts a process for the runs of r.
func (r *runner) startWorker(ctx context.Context) (*worker, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program to run it again: %w", err)
	}
	args := []string{"run", "--worker", "--subject", r.subject.Name, "--strategy", r.flags.strategy, "--fault-mix", r.flags.mix, "--trace", r.flags.trace}
	if r.file != "" {
		args = append(args, r.file)
	}
	w := &worker{cmd: exec.CommandContext(ctx, exe, args...)}
	w.cmd.Stderr = &w.stderr
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.out = json.NewDecoder(bufio.NewReader(out))
	if err := w.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	return w, nil
}

// run has the worker run a seed.
func (w *worker) run(ctx context.Context, seed uint64) (*scenarios.Result, error) {
	m := message{Result: &wireResult{Result: &scenarios.Result{}}}
	_, err := fmt.Fprintln(w.in, seed)
	if err == nil {
		err = w.out.Decode(&m)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("a worker has ended: %w: %s", err, strings.TrimSpace(w.stderr.String()))
	case m.Error != "":
		return nil, errors.New(m.Error)
	}
	return m.Result.Result, nil
}

// close ends the worker.
func (w *worker) close() {
	w.in.Close()
	_ = w.cmd.Wait() // whatever it has to say now, its answers were complete
}

// runs returns how one of several workers makes its runs, and how it ends: here, or, where only one run fits into a
// process and there are several workers, in a process of its own.
func (r *runner) runs(ctx context.Context, workers uint64) (one func(uint64) (*scenarios.Result, error), end func(), err error) {
	if r.subject.Host == nil || workers == 1 {
		return func(seed uint64) (*scenarios.Result, error) { return r.once(ctx, seed, r.tracePath(seed)) }, func() {}, nil
	}
	w, err := r.startWorker(ctx)
	if err != nil {
		return nil, nil, err
	}
	return func(seed uint64) (*scenarios.Result, error) { return w.run(ctx, seed) }, w.close, nil
}
