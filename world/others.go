package world

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/informersim/informersim/world/wire"
)

// Another is a process of the test's program that the engine has started.
type Another struct {
	In  io.Reader // what it says to the engine
	Out io.Writer // what it is told
	// End ends it, if it has not ended, and returns its exit code, -1 if a signal has ended it, and the end of what it has printed. It may be called again.
	End func() (code int, printed string)
}

// others are further processes of the test's program, for runs that may end or hang theirs. Each makes runs until one does.
type others struct {
	r        *runner       // of the job
	single   bool          // one process will do
	limit    time.Duration // for a step to come to rest, of real time; 0 for the test's own
	deadline time.Time     // when they are killed
	current  *runner       // makes the runs of the one in use, nil if there is none
	spare    *Another      // is about to be ready when that one has ended
	err      error         // why there are no more
}

// start starts a process, and does not wait until it can make runs.
func (o *others) start() (*Another, error) {
	left := o.deadline.Sub(o.r.host.Now())
	if left <= 0 {
		return nil, errors.New("there is no time left")
	}
	env := []string{wire.AgainTest + "=" + o.r.task.Test, wire.AgainRun + "=" + strconv.Itoa(o.r.task.Run)}
	if o.limit > 0 {
		env = append(env, wire.AgainLimit+"="+o.limit.String())
	}
	return o.r.host.Again(o.r.program, o.r.task.Again, env, left)
}

// take sees that there is a process that can make runs.
func (o *others) take() (err error) {
	if o.current != nil {
		return nil
	}
	p := o.spare
	if o.spare = nil; p == nil {
		if p, err = o.start(); err != nil {
			return err
		}
	}
	if !o.single {
		o.spare, _ = o.start() // without one, the next takes longer
	}
	other := &peer{in: bufio.NewReaderSize(p.In, bufferSize), out: p.Out}
	m := other.receive()
	var test wire.Greeting
	if m != nil && m.Kind == wire.Hello {
		m.JSON(&test)
	}
	if test.Protocol != wire.Protocol {
		_, printed := p.End()
		return fmt.Errorf("another process of this test does not come to the same simtest.Run. It says:\n%s", printed)
	}
	box := openBox(test)
	box.another = p
	other.send(wire.New(wire.Hello).JSON(wire.Greeting{Protocol: wire.Protocol, Release: o.r.host.Release}))
	o.current = &runner{peer: other, task: o.r.task, mappers: o.r.mappers, host: o.r.host, box: box, beside: o.r.beside, o: o.r.o, mapper: o.r.mapper}
	return nil
}

// play makes one run.
func (o *others) play(s source) *outcome {
	if o.err == nil {
		o.err = o.take()
	}
	if o.err != nil {
		res := newOutcome(s.header)
		res.err = o.err
		return res
	}
	res := o.current.play(s)
	if o.current.peer.gone != nil || res.stuck || res.testFailed || res.escaped != nil {
		o.drop()
	}
	return res
}

// spoils reports whether no run can follow: there are no more processes, or somebody has interrupted it.
func (o *others) spoils(*outcome) bool { return o.err != nil || o.r.host.Stopped() }

// drop ends the process in use.
func (o *others) drop() {
	if o.current != nil {
		o.current.box.another.End()
		o.current.box.close()
		o.current = nil
	}
}

// close ends all of them.
func (o *others) close() {
	o.drop()
	if o.spare != nil {
		o.spare.End()
		o.spare = nil
	}
}
