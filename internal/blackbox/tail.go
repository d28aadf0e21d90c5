package blackbox

import (
	"bytes"
	"os"
)

// tailSize is how much of a log survives the process.
const tailSize = 64 << 10

// Tail keeps the end of a log in memory that is a file, where the system has that: what is written there survives the process without a
// system call. A system call on the goroutine that logs would let another one run, and runs would no longer repeat.
type Tail struct {
	memory []byte // tailSize bytes, shared with the file; nil where the system lacks that
	size   int
}

// openTail makes a tail in a new file.
func openTail(name string) (*Tail, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Truncate(tailSize); err != nil {
		return nil, err
	}
	memory, err := mapped(f, tailSize)
	return &Tail{memory: memory}, err
}

// Add appends a text, and forgets the oldest lines if there is no more room. The caller serialises calls.
func (t *Tail) Add(text string) {
	if t == nil || t.memory == nil {
		return
	}
	text = text[max(0, len(text)-tailSize/2):]
	if t.size+len(text) >= tailSize {
		keep := t.memory[t.size/2 : t.size]
		keep = keep[bytes.IndexByte(keep, '\n')+1:]
		if len(keep)+len(text) >= tailSize {
			keep = nil
		}
		t.size = copy(t.memory, keep)
		clear(t.memory[t.size:])
	}
	t.size += copy(t.memory[t.size:], text)
}

// reset empties the tail.
func (t *Tail) reset() {
	if t != nil {
		clear(t.memory)
		t.size = 0
	}
}

// readTail returns what a tail's file has.
func readTail(name string) []byte {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		data = data[:i]
	}
	return data
}
