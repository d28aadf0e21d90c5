package world

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/informersim/informersim/world/wire"
)

// bufferSize is that of what is read from the test's process, in bytes.
const bufferSize = 1 << 16

// Host is what the engine needs of its program. All fields are required.
type Host struct {
	// Release is the version of the program's module, or wire.Devel.
	Release string
	// Versions are the program's, by the names of reports.VersionProgram and others, for the headers of traces; "" for one that is not known.
	Versions map[string]string
	// Stderr is where a run whose test process dies is reported, because nobody else is left to do so.
	Stderr io.Writer
	// Now returns the real time, which limits how long failures are shrunk and traces tried. Nothing else depends on it.
	Now func() time.Time
	// Store writes the trace of a failure to a file, whose folder may not exist yet.
	Store func(path string, data []byte) error
	// Spare writes what is kept nowhere else to a temporary file, whose name ends with suffix, and returns its path.
	Spare func(suffix string, data []byte) (path string, err error)
	// Kubernetes starts a process with Kubernetes' own controllers, of this release.
	Kubernetes func() (*Manager, error)
	// Interrupted returns, when the test has ended, the signal by which somebody has ended it and its process group; "" if nobody has, as far as is known.
	Interrupted func() string
	// Stopped reports whether somebody has ended that process group by now, also after the test has ended by itself.
	Stopped func() bool
	// Again starts a test's program once more, with these arguments and more of an environment. The process is killed when the limit is over.
	Again func(p *wire.Program, args, env []string, limit time.Duration) (*Another, error)
	// Awaited reports, when the test has ended, whether somebody reads Stderr until the engine has, too. The process has that number which has started the test.
	Awaited func(parent int) bool
}

// Serve makes the runs that the test process at the other end of in and out asks for, until the end of in. It returns an error if the other side
// does not speak the protocol.
func Serve(in io.Reader, out io.Writer, host Host) error {
	p := &peer{in: bufio.NewReaderSize(in, bufferSize), out: out}
	m := p.receive()
	if m == nil {
		if errors.Is(p.gone, errGone) {
			return nil
		}
		return fmt.Errorf("a test is expected at standard input, and what comes is none: %w", p.gone)
	}
	var test wire.Greeting
	if m.Kind != wire.Hello {
		return fmt.Errorf("a test is expected at standard input, and its first message is of kind %q: this command is for the module simtest, which starts it", m.Kind)
	}
	m.JSON(&test)
	if m.Err() != nil {
		return m.Err()
	}
	box := openBox(test)
	defer box.close()
	own := wire.Greeting{Protocol: wire.Protocol, Release: host.Release, Wrong: mismatch(test, host.Release)}
	p.send(wire.New(wire.Hello).JSON(own))
	if own.Wrong != "" {
		return nil // the test says so
	}
	mappers := mapperCache{}
	beside := &managers{start: host.Kubernetes}
	defer beside.close()
	var last *runner
	for {
		m := p.receive()
		switch {
		case m == nil && errors.Is(p.gone, errGone):
			if last != nil {
				last.diedAfter()
			}
			return nil
		case m == nil:
			return p.gone
		case m.Kind != wire.Job:
			return fmt.Errorf("a job is expected, and a message of kind %q comes", m.Kind)
		}
		var task wire.Task
		if m.JSON(&task); m.Err() != nil {
			return m.Err()
		}
		r := &runner{peer: p, task: &task, mappers: mappers, host: &host, box: box, beside: beside, program: test.Program}
		r.run()
		last = r
		if p.gone == nil {
			p.send(wire.New(wire.Finished).JSON(r.result).Bytes(r.trace))
			r.tellLate()
		}
	}
}

// mismatch says why a test and an engine of this release do not fit, "" if they do. The releases of working copies are not known.
func mismatch(test wire.Greeting, release string) string {
	switch {
	case test.Protocol != wire.Protocol:
		return fmt.Sprintf("it speaks version %d of the protocol, and the test's simtest version %d: install the same version of both", wire.Protocol, test.Protocol)
	case wire.SameRelease(test.Release, release):
		return ""
	}
	return fmt.Sprintf("it has version %s, and the test's simtest %s: install the same version of both", release, test.Release)
}
