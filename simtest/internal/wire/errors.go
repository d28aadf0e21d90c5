package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// Refused is the error of a connection on which nobody listens.
var Refused error = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}

// Crashed is the error of requests that are made after their process has crashed.
var Crashed = errors.New("simtest: the process of this client has crashed")

// breaks are the ways in which connections break, as the errors that client-go recognises by their types. All others cross as their text.
var breaks = []error{
	io.ErrUnexpectedEOF,
	&net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)},
	Refused,
	errors.New("http2: client connection lost"), // a text that client-go compares
}

const (
	noError   = 0
	textError = 1
	firstKind = 2 // of breaks
)

// Error adds an error, which may be nil.
func (p *Packet) Error(err error) *Packet {
	if err == nil {
		return p.Byte(noError)
	}
	for n, b := range breaks {
		if b.Error() == err.Error() {
			return p.Byte(byte(firstKind + n))
		}
	}
	return p.Byte(textError).Text(err.Error())
}

// Error reads an error.
func (m *Message) Error() error {
	switch kind := int(m.Byte()); {
	case kind == noError:
		return nil
	case kind == textError:
		return errors.New(m.Text())
	case kind-firstKind < len(breaks):
		return breaks[kind-firstKind]
	default:
		m.Broken(errShort)
		return nil
	}
}
