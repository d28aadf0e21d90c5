package simtest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// blackBox has what must outlive a process, in files: the trace of the run in progress, which the engine writes, for the case that it dies, and
// the end of the log, which this process writes, and a panic that ends it, which its runtime does, for the case that it dies. The files have no names once the engine has opened them, where
// the system allows that. Without them nothing fails; less is known of a process that dies.
type blackBox struct {
	trace *os.File
	log   *logTail
	names []string
}

// newBlackBox makes the files and names them in a greeting.
func newBlackBox(g *wire.Greeting) *blackBox {
	b := &blackBox{}
	var err error
	if b.trace, err = traceForParent(); err != nil {
		b.trace, err = os.CreateTemp("", "informersim-*.trace.jsonl")
	}
	if err != nil {
		return b
	}
	g.Trace = b.trace.Name()
	b.names = append(b.names, g.Trace)
	if b.log, err = newLogTail(g.Trace + ".log"); err == nil {
		g.Log = g.Trace + ".log"
		b.names = append(b.names, g.Log)
	}
	if name := g.Trace + ".crash"; crashTo(name) == nil {
		g.Crash = name
		b.names = append(b.names, name)
	}
	return b
}

// crashTo has Go's runtime write what it says of a panic that ends this process to a new file, too. A test that has set a file of its own before
// loses that.
func crashTo(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() // the runtime has a copy
	return debug.SetCrashOutput(f, debug.CrashOptions{})
}

// unlink removes the files' names. What fails is tried again when the files are closed.
func (b *blackBox) unlink() {
	var left []string
	for _, name := range b.names {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			left = append(left, name)
		}
	}
	b.names = left
}

func (b *blackBox) close() {
	if b.trace != nil {
		b.trace.Close()
	}
	b.unlink()
}

// sofar returns the trace that the engine has written, up to its last whole line.
func (b *blackBox) sofar() []byte {
	if b.trace == nil {
		return nil
	}
	data, err := io.ReadAll(io.NewSectionReader(b.trace, 0, 1<<40))
	if err != nil {
		return nil
	}
	return data[:bytes.LastIndexByte(data, '\n')+1]
}

// logTail keeps the end of a log in memory that is a file, where the system has that: what is written there survives the process without a
// system call. A system call on the goroutine that logs would let another one run, and runs would no longer repeat. The memory stays until the
// process ends.
type logTail struct {
	memory []byte // wire.LogTail bytes, shared with the file
	size   int
}

// newLogTail makes a tail in a new file.
func newLogTail(name string) (*logTail, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Truncate(wire.LogTail); err != nil {
		return nil, err
	}
	memory, err := mapped(f, wire.LogTail)
	if err != nil {
		return nil, err
	}
	return &logTail{memory: memory}, nil
}

// add appends a text, and forgets the oldest lines if there is no more room. The caller serialises calls.
func (t *logTail) add(text string) {
	if t == nil || t.memory == nil {
		return
	}
	text = text[max(0, len(text)-len(t.memory)/2):]
	if t.size+len(text) >= len(t.memory) {
		keep := t.memory[t.size/2 : t.size]
		keep = keep[bytes.IndexByte(keep, '\n')+1:]
		if len(keep)+len(text) >= len(t.memory) {
			keep = nil
		}
		t.size = copy(t.memory, keep)
		clear(t.memory[t.size:])
	}
	t.size += copy(t.memory[t.size:], text)
}

// reset empties the tail.
func (t *logTail) reset() {
	if t != nil {
		clear(t.memory[:t.size])
		t.size = 0
	}
}

// engineDied says what is known of the run during which the engine has ended, or which was to come next, and keeps its trace. Nobody is left to
// report it but this side.
func (r *runner) engineDied(e *engine, err error, seed uint64) string {
	text := "simtest: " + err.Error()
	if r.current != nil {
		seed = r.current.seed
	}
	if seed == 0 {
		return text
	}
	text += fmt.Sprintf("\n  that was during %s, seed %d", r.t.Name(), seed)
	if r.shrinking != "" {
		text += ", while a failure was being shrunk"
	}
	if trace := e.box.sofar(); len(trace) > 0 && r.current != nil {
		file, err := r.keep(r.traceName(seed), trace)
		if err != nil {
			text += fmt.Sprintf("\n  the trace so far could not be kept: %v", err)
		} else {
			text += "\n  the trace so far is in " + file
		}
		if log := r.current.log.text(); log != "" {
			if file = logFile(file); os.WriteFile(r.path(file), []byte(log), 0o644) == nil {
				text += "\n  what it logged is in " + file
			}
		}
	}
	if r.shrinking != "" {
		return text + "\n\nThe failure was:\n\n" + r.shrinking
	}
	return text + fmt.Sprintf("\n\n  see it again\n    %s -simtest.seed=%d", r.line, seed)
}
