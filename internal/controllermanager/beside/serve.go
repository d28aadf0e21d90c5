package beside

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/world/wire"
)

// bufferSize is that of what is read from the engine, in bytes.
const bufferSize = 1 << 16

// Serve makes a bubble for each run that the engine at the other end of in and out begins, until the end of in.
func Serve(in io.Reader, out io.Writer) error {
	if !bubble.Seeded() {
		return errors.New("this program is built without the overlay of Go's runtime: the engine builds it with it")
	}
	e := &engine{in: bufio.NewReaderSize(in, bufferSize), out: out}
	for {
		m, err := wire.Receive(e.in)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case m.Kind != wire.Begin:
			return fmt.Errorf("a run is expected, and a message of kind %q comes: this program is started by the engine of package simtest", m.Kind)
		}
		r := &run{e: e, seed: uint64(m.Num())}
		interleave := m.Flag()
		r.release, r.prefix = m.Text(), m.Text()
		if m.JSON(&r.names); m.Err() != nil {
			return m.Err()
		}
		err = bubble.Run(r.seed, bubble.Options{OneProcessor: true, Interleave: interleave, LocksRest: true}, r.loop)
		var leak *bubble.LeakError
		switch {
		case r.lost == io.EOF:
			return nil // the engine has gone
		case r.lost != nil:
			return r.lost
		case err != nil && !errors.As(err, &leak): // goroutines that wait for ever are in nobody's way
			return err
		}
		if err := wire.New(wire.Ended).Send(out); err != nil {
			return err
		}
	}
}

// engine is the other end of the pipes.
type engine struct {
	in  *bufio.Reader
	out io.Writer

	query sync.Mutex // one query at a time
}

// ask makes a query, and returns its answer's fields after the error.
func (e *engine) ask(p *wire.Packet) (*wire.Message, error) {
	e.query.Lock()
	defer e.query.Unlock()
	if err := p.Send(e.out); err != nil {
		return nil, err
	}
	m, err := wire.Receive(e.in)
	if err != nil {
		return nil, err
	}
	if m.Kind != wire.Answer {
		return nil, fmt.Errorf("the engine answers a query with a message of kind %q", m.Kind)
	}
	if err := m.Error(); err != nil {
		return nil, err
	}
	return m, m.Err()
}
