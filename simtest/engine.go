package simtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// engine is the process that makes the runs: `informersim world`. A test process has one, which serves one job after the other and ends when
// its input does: when the test process ends, whatever the way.
type engine struct {
	cmd  *exec.Cmd
	in   *os.File // we write to it
	pipe *os.File // we read from it, by out
	out  *bufio.Reader
	gone chan struct{} // closed when the process has ended; made outside of every bubble
	err  error         // how it has ended
	box  *blackBox
	// stale says that it is older than the source, "" if it is not.
	stale string

	query sync.Mutex // one query at a time. A wait for it is not durable, and short
}

// theEngine is the engine of this process. Its lock is held during a job.
var theEngine struct {
	sync.Mutex
	current *engine
}

// acquire returns the engine, which it finds and starts if there is none, for one job. The caller releases it.
func acquire() (*engine, error) {
	theEngine.Lock()
	if theEngine.current == nil {
		e, err := findEngine()
		if err != nil {
			theEngine.Unlock()
			return nil, err
		}
		theEngine.current = e
	}
	return theEngine.current, nil
}

func (e *engine) release() { theEngine.Unlock() }

// startEngine starts a program as an engine, and greets it.
func startEngine(path string) (*engine, error) {
	e := &engine{cmd: exec.Command(path, "world"), gone: make(chan struct{})}
	ourOut, theirOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	theirIn, ourIn, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	e.cmd.Stdin, e.cmd.Stdout = theirIn, theirOut
	e.cmd.Stderr = os.Stderr // itself, not a pipe that we would copy from: its last words come when we are dead
	e.cmd.SysProcAttr = ownGroup()
	err = e.cmd.Start()
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		ourIn.Close()
		ourOut.Close()
		return nil, err
	}
	answers, err := newAwaited(ourOut)
	if err != nil {
		answers = ourOut
	}
	e.in, e.pipe, e.out = ourIn, ourOut, bufio.NewReaderSize(answers, 1<<16)
	go func() {
		e.err = e.cmd.Wait()
		close(e.gone)
	}()
	if err := e.greet(); err != nil {
		e.stop()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return e, nil
}

const noEngine = "it does not work as an engine of tests, perhaps because it is older than this simtest: %w"

// greet exchanges versions.
func (e *engine) greet() error {
	own := wire.Greeting{Protocol: wire.Protocol, Release: release, Program: program()}
	e.box = newBlackBox(&own)
	defer e.box.unlink()
	if err := wire.New(wire.Hello).JSON(own).Send(e.in); err != nil {
		return fmt.Errorf(noEngine, e.lost(err))
	}
	m, err := wire.Receive(e.out)
	if err != nil {
		return fmt.Errorf(noEngine, e.lost(err))
	}
	var its wire.Greeting
	m.JSON(&its)
	switch {
	case m.Kind != wire.Hello || m.Err() != nil:
		return errors.New("its answer is not an engine's")
	case its.Wrong != "":
		return errors.New(its.Wrong)
	}
	return nil
}

// stop ends the engine, by the end of its input.
func (e *engine) stop() {
	e.in.Close()
	e.pipe.Close()
	e.box.close()
}

// lost makes a sentence of an error of the pipes. Where the engine has ended, the next job starts another one.
func (e *engine) lost(err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("talking to the engine: %w", err)
	}
	if e.cmd == nil {
		return errors.New("the engine has no more to do, or has ended")
	}
	<-e.gone
	how := "it has exited"
	if e.err != nil {
		how = e.err.Error()
	}
	return fmt.Errorf("the engine (process %d) has ended: %s", e.cmd.Process.Pid, how)
}

// forget has the next job start another engine.
func (e *engine) forget() {
	theEngine.current = nil // the caller holds the lock
	e.stop()
}

func (e *engine) send(p *wire.Packet) error {
	if err := p.Send(e.in); err != nil {
		return e.lost(err)
	}
	return nil
}

func (e *engine) receive() (*wire.Message, error) {
	m, err := wire.Receive(e.out)
	if err != nil {
		return nil, e.lost(err)
	}
	return m, nil
}

// ask makes a query, and returns its answer's fields after the error. convert answers what the engine asks first. The caller holds the lock of
// queries.
func (e *engine) ask(p *wire.Packet, convert func(*wire.Message) (*wire.Packet, error)) (*wire.Message, error) {
	if err := e.send(p); err != nil {
		return nil, err
	}
	m, err := e.receive()
	for err == nil && m.Kind == wire.Call {
		var answer *wire.Packet
		if answer, err = convert(m); err == nil {
			err = e.send(answer)
		}
		if err == nil {
			m, err = e.receive()
		}
	}
	switch {
	case err != nil:
		return nil, err
	case m.Kind != wire.Answer:
		return nil, fmt.Errorf("the engine answers a query with a message of kind %q; this is a bug in informersim", m.Kind)
	}
	if err := m.Error(); err != nil {
		return nil, err
	}
	return m, m.Err()
}
