package world

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/informersim/informersim/world/wire"
)

// peer is a process at the other end of the pipes: the test's, or another.
type peer struct {
	of   string // whose it is; "" for the test's
	in   *bufio.Reader
	out  io.Writer
	gone error // why nothing can be sent or received any more
}

// errGone is the error of a run whose test's process has ended.
var errGone = errors.New("the test's process has ended in the middle of the run")

// name says whose process it is.
func (p *peer) name() string { return cmp.Or(p.of, "the test") }

func (p *peer) send(m *wire.Packet) {
	if p.gone == nil {
		if err := m.Send(p.out); err != nil {
			p.gone = fmt.Errorf("%w: %w", errGone, err)
		}
	}
}

// receive returns the next message, nil if there is none any more.
func (p *peer) receive() *wire.Message {
	if p.gone != nil {
		return nil
	}
	m, err := wire.Receive(p.in)
	switch {
	case err == nil:
	case errors.Is(err, wire.ErrProtocol):
		p.broken(err)
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		p.gone = errGone
	default:
		p.gone = fmt.Errorf("%w: %w", errGone, err)
	}
	return m
}

// broken notes that the other side does not keep to the protocol.
func (p *peer) broken(err error) {
	if p.gone == nil {
		p.gone = fmt.Errorf("the process of %s sends what it must not: %w; this is a bug in informersim", p.name(), err)
	}
}
