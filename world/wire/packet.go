package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"
)

// maxMessage limits a message, in bytes: a longer one is not one of ours.
const maxMessage = 1 << 28

// head is the size, in bytes, of the length before a message.
const head = 4

// A Packet is a message, or a part of one, that is written.
type Packet struct{ b []byte }

// New returns a message without fields.
func New(kind byte) *Packet { return &Packet{[]byte{0, 0, 0, 0, kind}} }

// Byte adds a byte.
func (p *Packet) Byte(c byte) *Packet { p.b = append(p.b, c); return p }

// Num adds a number.
func (p *Packet) Num(n int64) *Packet { p.b = binary.AppendVarint(p.b, n); return p }

// Duration adds a duration.
func (p *Packet) Duration(d time.Duration) *Packet { return p.Num(int64(d)) }

// Flag adds a truth value.
func (p *Packet) Flag(f bool) *Packet {
	if f {
		return p.Byte(1)
	}
	return p.Byte(0)
}

// Text adds a text.
func (p *Packet) Text(s string) *Packet {
	p.Num(int64(len(s)))
	p.b = append(p.b, s...)
	return p
}

// Bytes adds bytes. They are copied.
func (p *Packet) Bytes(s []byte) *Packet {
	p.Num(int64(len(s)))
	p.b = append(p.b, s...)
	return p
}

// JSON adds a value as JSON. It panics if the value has none, which none of the protocol's types can cause.
func (p *Packet) JSON(v any) *Packet {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("wire: %T has no JSON: %v", v, err))
	}
	return p.Bytes(data)
}

// Header adds a header.
func (p *Packet) Header(h http.Header) *Packet {
	p.Num(int64(len(h)))
	for _, name := range slices.Sorted(maps.Keys(h)) {
		p.Text(name).Num(int64(len(h[name])))
		for _, value := range h[name] {
			p.Text(value)
		}
	}
	return p
}

// Append adds the fields of another packet, made without New.
func (p *Packet) Append(q *Packet) *Packet { p.b = append(p.b, q.b...); return p }

// Field adds another packet, made without New, as one field.
func (p *Packet) Field(q *Packet) *Packet { return p.Bytes(q.b) }

// Len returns the packet's size in bytes.
func (p *Packet) Len() int { return len(p.b) }

// Reset makes a packet without New empty, for reuse.
func (p *Packet) Reset() { p.b = p.b[:0] }

// Send writes a message with one call of Write.
func (p *Packet) Send(w io.Writer) error {
	if len(p.b)-head > maxMessage {
		return fmt.Errorf("a message of %d bytes is too long", len(p.b)-head)
	}
	binary.LittleEndian.PutUint32(p.b, uint32(len(p.b)-head))
	_, err := w.Write(p.b)
	return err
}

// A Message is one that was received. Its fields are read in the order in which they were added; the first mistake sticks, and what is
// read after it is zero.
type Message struct {
	Kind byte
	b    []byte
	err  error
}

// ErrProtocol is the error of what is no message.
var ErrProtocol = errors.New("this is not the protocol")

// Receive reads a message. The error is io.EOF if there is none because the other side has closed the pipe.
func Receive(r io.Reader) (*Message, error) {
	var size [head]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(size[:])
	if n == 0 || n > maxMessage {
		return nil, fmt.Errorf("a message of %d bytes: %w", n, ErrProtocol)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return &Message{Kind: b[0], b: b[1:]}, nil
}

// Err returns the first mistake.
func (m *Message) Err() error { return m.err }

// Broken notes a mistake that the reader found in what a field says.
func (m *Message) Broken(err error) {
	if m.err == nil {
		m.err, m.b = err, nil
	}
}

var errShort = fmt.Errorf("a message ends within a field: %w", ErrProtocol)

// More reports whether there are more fields.
func (m *Message) More() bool { return m.err == nil && len(m.b) > 0 }

// Byte reads a byte.
func (m *Message) Byte() byte {
	if len(m.b) == 0 {
		m.Broken(errShort)
		return 0
	}
	c := m.b[0]
	m.b = m.b[1:]
	return c
}

// Num reads a number.
func (m *Message) Num() int64 {
	n, size := binary.Varint(m.b)
	if size <= 0 {
		m.Broken(errShort)
		return 0
	}
	m.b = m.b[size:]
	return n
}

// Duration reads a duration.
func (m *Message) Duration() time.Duration { return time.Duration(m.Num()) }

// Flag reads a truth value.
func (m *Message) Flag() bool { return m.Byte() != 0 }

// Text reads a text.
func (m *Message) Text() string { return string(m.Bytes()) }

// Bytes reads bytes. They are part of the message.
func (m *Message) Bytes() []byte {
	n := m.Num()
	if n < 0 || n > int64(len(m.b)) {
		m.Broken(errShort)
		return nil
	}
	s := m.b[:n:n]
	m.b = m.b[n:]
	return s
}

// JSON reads a value.
func (m *Message) JSON(into any) {
	if data := m.Bytes(); m.err == nil {
		if err := json.Unmarshal(data, into); err != nil {
			m.Broken(err)
		}
	}
}

// Header reads a header.
func (m *Message) Header() http.Header {
	h := http.Header{}
	for n := m.Num(); n > 0 && m.err == nil; n-- {
		name := m.Text()
		for values := m.Num(); values > 0 && m.err == nil; values-- {
			h[name] = append(h[name], m.Text())
		}
	}
	return h
}

// Field reads a packet that was added as one field.
func (m *Message) Field() *Message { return &Message{b: m.Bytes(), err: m.err} }
