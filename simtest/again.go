package simtest

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// A run may end its process, or hang it, and shrinking a failure takes dozens of runs. So the engine of a process that has died or hangs starts the test's executable again, told to run
// only this test. That comes to the same Run or Find, and makes the runs there that the engine asks for at the other end of two pipes.

// againFor is which Run or Find this process was started again for, the zero value if it was not. The programs that its tests start are not.
var againFor = func() (c call) {
	c.test = os.Getenv(wire.AgainTest)
	c.number, _ = strconv.Atoi(os.Getenv(wire.AgainRun))
	c.limit, _ = time.ParseDuration(os.Getenv(wire.AgainLimit))
	for _, name := range []string{wire.AgainTest, wire.AgainRun, wire.AgainLimit} {
		os.Unsetenv(name)
	}
	if c.test != "" {
		keepFromChildren(wire.AgainIn, wire.AgainOut)
	}
	return c
}()

// call is a call of Run or Find.
type call struct {
	test   string
	number int
	limit  time.Duration // for a step to come to rest; 0 for the test's own
}

// program is how this process can be started again; nil if it cannot.
func program() *wire.Program {
	exe, err := os.Executable()
	if err != nil || startFolderErr != nil || !canHaveWorkers || workerFor != "" || againFor.test != "" {
		return nil
	}
	// A process that begins with one processor makes a seed's run the same more often than one that begins with several.
	p := &wire.Program{Path: exe, Dir: startFolder, Parent: os.Getppid(), Env: append(startEnviron[:len(startEnviron):len(startEnviron)], "GOMAXPROCS=1")}
	if f := flag.Lookup("test.timeout"); f != nil {
		if limit, err := time.ParseDuration(f.Value.String()); err == nil && limit > 0 {
			p.Awaited = max(5*time.Second, limit/10) // as the go command does
		}
	}
	return p
}

// againArgs returns the arguments with which another process runs only this test; nil where that would not be the same test.
func (r *runner) againArgs() []string {
	_, is := r.t.(subtester)
	switch {
	case is:
		return workerArgs(os.Args[1:], flag.NArg(), testPattern(r.t.Name()))
	case fromGinkgo(r.t):
		return specArgs(os.Args[1:], flag.NArg(), r.t.Name())
	}
	return nil
}

// makeAgain is the part of a process that was started again: it makes the runs that the engine asks for, and ends the test. In other calls of Run or Find it does nothing.
func (r *runner) makeAgain() {
	if againFor.test != r.t.Name() || againFor.number != r.number {
		return
	}
	if own := r.o.RealQuiescenceTimeout; againFor.limit > 0 && (own <= 0 || own > againFor.limit) {
		r.o.RealQuiescenceTimeout = againFor.limit
	}
	e, err := attach()
	if err == nil {
		defer collectSeldom()()
		_, _, err = r.serve(e)
		e.stop()
	}
	fmt.Fprintf(os.Stderr, "simtest: this process makes no more runs: %v\n", err)
	r.t.(interface{ SkipNow() }).SkipNow()
}

// attach greets the engine that has started this process.
func attach() (*engine, error) {
	e := &engine{in: os.NewFile(wire.AgainOut, "to the engine"), pipe: os.NewFile(wire.AgainIn, "from the engine")}
	answers, err := newAwaited(e.pipe)
	if err != nil {
		answers = e.pipe
	}
	e.out = bufio.NewReaderSize(answers, 1<<16)
	return e, e.greet()
}
