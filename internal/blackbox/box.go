package blackbox

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// Notice is what the monitor says if the process dies during the run.
type Notice struct {
	Head  string // first: what was being run
	Trace string // where to keep the trace, as an absolute path; "" if it is left in the temporary file
	Log   string // where to keep the end of the log; "" for nowhere
	Tail  string // last: how to see it again
}

// Box is the record of a process's current run. Its methods may not be called concurrently, except that Read may be called while
// another goroutine is stuck, and Err at any time.
type Box struct {
	file *os.File
	size int64 // of the complete lines
	log  *Tail

	monitor io.WriteCloser // nil if there is none
	err     atomic.Pointer[error]
}

var theBox struct {
	once sync.Once
	box  *Box
	err  error
}

// Open returns the box of this process. Without a box, err says why; a box without a monitor has an Err.
func Open() (*Box, error) {
	theBox.once.Do(func() { theBox.box, theBox.err = open() })
	return theBox.box, theBox.err
}

func open() (*Box, error) {
	f, err := os.CreateTemp("", "informersim-*.trace.jsonl")
	if err != nil {
		return nil, err
	}
	b := &Box{file: f}
	b.monitor, err = startMonitor(f.Name())
	b.note(err)
	log, err := openTail(logOf(f.Name()))
	b.note(err)
	b.log = log
	return b, nil
}

// logOf returns the name of the file of the log's end.
func logOf(file string) string { return file + ".log" }

// Log returns the end of the run's log, for the run to write.
func (b *Box) Log() *Tail { return b.log }

// Err returns why there is no monitor, or nil.
func (b *Box) Err() error {
	if err := b.err.Load(); err != nil {
		return *err
	}
	return nil
}

// File returns the name of the file that grows.
func (b *Box) File() string { return b.file.Name() }

// Begin starts over with an empty file and tells the monitor what to say from now on.
func (b *Box) Begin(n Notice) {
	b.clear()
	b.tell(message{Begin: &n})
}

// End tells the monitor that the run is over, and empties the file.
func (b *Box) End() {
	b.tell(message{})
	b.clear()
	if b.monitor == nil { // nobody else removes them; where that works, the open files remain usable
		_ = os.Remove(b.file.Name())
		_ = os.Remove(logOf(b.file.Name()))
	}
}

func (b *Box) clear() {
	b.size = 0
	b.note(b.file.Truncate(0))
	b.log.reset()
}

// Write appends complete lines. It implements io.Writer, and reports no error: a run does not fail because its record does.
func (b *Box) Write(lines []byte) (int, error) {
	n, err := b.file.WriteAt(lines, b.size)
	b.size += int64(n)
	b.note(err)
	return len(lines), nil
}

// pendingLine begins the part of the file that is not complete yet.
const pendingLine = `{"pending"`

// Pending notes what has begun and is not complete: the records so far, as lines, and that time passes. The next Write replaces it, and
// is never shorter, since a complete step has the same records and a longer first line.
func (b *Box) Pending(timePasses bool, records []byte) {
	head := pendingLine + ":\"-\"}\n"
	if timePasses {
		head = pendingLine + ":\"time passes\"}\n"
	}
	text := append([]byte(head), records...)
	_, err := b.file.WriteAt(text, b.size)
	b.note(err)
}

// Read returns the file's complete lines, and what is pending.
func (b *Box) Read() (complete []byte, pending string, err error) { return read(b.file.Name()) }

func (b *Box) tell(m message) {
	if b.monitor == nil {
		return
	}
	data, err := json.Marshal(m)
	if err == nil {
		_, err = b.monitor.Write(append(data, '\n'))
	}
	if err != nil {
		b.monitor.Close()
		b.monitor = nil
		b.note(fmt.Errorf("the monitor has ended: %w", err))
	}
}

// note keeps the first error.
func (b *Box) note(err error) {
	if err != nil {
		first := err // err itself stays off the heap
		b.err.CompareAndSwap(nil, &first)
	}
}
