package main

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/informersim/informersim/world"
	"github.com/informersim/informersim/world/wire"
)

// againEnd is how long a test's program that was started once more may take for its cleanup.
const againEnd = 2 * time.Second

// maxPrinted is how much is kept of the beginning and of the end of what such a program prints, in bytes. A fatal error comes before the stacks of all goroutines.
const maxPrinted = 1 << 18

// startAgain starts a test's program once more. What it prints is for the engine, and it has a folder of its own for temporary files, because a test that dies leaves them.
func startAgain(p *wire.Program, args, env []string, limit time.Duration) (*world.Another, error) {
	temp, err := os.MkdirTemp("", "informersim-again-")
	if err != nil {
		return nil, err
	}
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(temp))
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), ourOut.Close(), os.RemoveAll(temp))
	}
	said := &printed{}
	cmd := exec.Command(p.Path, args...)
	cmd.Dir, cmd.Env = p.Dir, slices.Concat(p.Env, env, []string{"TMPDIR=" + temp})
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = said, said, time.Second
	cmd.ExtraFiles = []*os.File{wire.AgainIn - 3: theirIn, wire.AgainOut - 3: theirOut}
	err = cmd.Start()
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		return nil, errors.Join(err, ourIn.Close(), ourOut.Close(), os.RemoveAll(temp))
	}
	kill := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	end := sync.OnceFunc(func() {
		ourOut.Close()
		ourIn.Close()
		defer time.AfterFunc(againEnd, func() { _ = cmd.Process.Kill() }).Stop()
		_ = cmd.Wait() // how it has ended is in its state
		kill.Stop()
		os.RemoveAll(temp)
	})
	return &world.Another{In: ourIn, Out: ourOut, End: func() (int, string) {
		end()
		return cmd.ProcessState.ExitCode(), string(said.text)
	}}, nil
}

// printed is what a program prints.
type printed struct{ text []byte }

// Write implements io.Writer.
func (p *printed) Write(b []byte) (int, error) {
	p.text = append(p.text, b...)
	if n := len(p.text); n > 4*maxPrinted {
		p.text = slices.Concat(p.text[:maxPrinted], p.text[n-maxPrinted:])
	}
	return len(b), nil
}

// parentEnd is how long the process that has started a test may take to end after it.
const parentEnd = 300 * time.Millisecond

// isAwaited reports whether a test that has ended was started by somebody who still reads what the engine says, to its end. The go command does if it tests several packages or
// one that is named, and not if it is told none: then the test writes where the go command does, and that has ended with it. Nobody waits for what is written to a terminal or to a file.
func isAwaited(parent int) bool {
	info, err := os.Stderr.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return false
	}
	for end := time.Now().Add(parentEnd); time.Now().Before(end); time.Sleep(parentEnd / 20) {
		if !isProcess(parent) {
			return false
		}
	}
	return true
}
