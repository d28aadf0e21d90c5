package pipe

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	goruntime "runtime"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo/gates"
	"github.com/informersim/informersim/world/wire"
)

// goodbye is how long a guest may take to end when the kernel is gone.
const goodbye = 2 * time.Second

// Serve is the guest: it makes the runs that it is told to make, until in ends. It does not return before.
func Serve(in io.Reader, out io.Writer) error {
	received := make(chan *wire.Message)
	ended := make(chan error, 1)
	// A goroutine outside the bubble reads, so that the end of the pipe ends the process even if something in the bubble never rests.
	go func() {
		for r := bufio.NewReader(in); ; {
			m, err := wire.Receive(r)
			if err != nil {
				ended <- err
				close(received)
				time.Sleep(goodbye)
				os.Exit(1)
			}
			received <- m
			goruntime.Gosched() // with one processor, reading would keep it from whoever received
		}
	}()
	if err := wire.New(Hello).Text(gates.Release).Send(out); err != nil {
		return err
	}
	for m := range received {
		if m.Kind != Begin {
			return fmt.Errorf("a message %q comes outside of a run: %w", m.Kind, wire.ErrProtocol)
		}
		seed, quiescence, interleave := uint64(m.Num()), m.Duration(), m.Flag()
		s := &session{received: received, out: out}
		err := gates.Host(seed, quiescence, interleave, s.run)
		if s.err != nil {
			return s.err
		}
		if err := send(out, err); err != nil {
			return err
		}
	}
	if err := <-ended; err != io.EOF {
		return err
	}
	return nil
}

// send says how a bubble has ended.
func send(out io.Writer, err error) error {
	p := wire.New(Ended)
	var f *subjects.Failure
	switch {
	case err == nil:
		p.Num(Well).Text("")
	case errors.As(err, &f):
		p.Num(Failed + int64(f.Kind)).Text(f.What)
	default:
		p.Num(Wrong).Text(err.Error())
	}
	return p.Send(out)
}

// session is the guest's side of one run.
type session struct {
	received <-chan *wire.Message
	out      io.Writer
	err      error
	guestObjects

	gates   *gates.Gates
	events  wire.Packet
	results wire.Packet
}

// run is the run, on the bubble's own goroutine.
func (s *session) run() {
	s.objects = map[int64]*Object{}
	if s.gates, s.err = gates.Enter(0, func(e *gates.Event) { s.addEvent(&s.events, e) }); s.err != nil {
		return
	}
	for m := range s.received {
		if m.Kind == End {
			return
		}
		for m.More() {
			s.order(m)
		}
		if s.err = m.Err(); s.err != nil {
			return
		}
		panics := ""
		if p := s.gates.Panic(); p != nil {
			panics = p.What
		}
		s.err = wire.New(Report).Duration(s.gates.Elapsed()).Text(panics).Field(&s.events).Append(&s.results).Send(s.out)
		if s.err != nil {
			return
		}
		s.events.Reset()
		s.results.Reset()
	}
}

// fail adds an error to the results.
func (s *session) fail(err error) { AddError(&s.results, err) }

// order carries out one order.
func (s *session) order(m *wire.Message) {
	g, num := s.gates, func() int { return int(m.Num()) }
	switch order := m.Byte(); order {
	case DoSeed:
		g.Seed(m.Num())
	case DoQuiesce:
		g.Quiesce()
	case DoPass:
		s.results.Duration(g.Pass(m.Duration()))
	case DoPop:
		g.Pop(num())
	case DoRescan:
		g.Rescan(num())
	case DoAnswer:
		s.answer(m)
	case DoFrame:
		id, event := m.Num(), watch.EventType(m.Text())
		obj := s.read(m)
		g.Frame(id, event, obj, ReadError(m))
	case DoThrough:
		g.Through(num(), num(), num())
	case DoReturn:
		g.Return(num(), num(), m.Flag())
	case DoDrop:
		g.Drop(num(), num())
	case DoAdmit:
		g.Admit(num(), num())
	case DoFinish:
		g.Finish(num(), num(), gates.Outcome(m.Byte()))
	case DoAdd:
		g.AddKey(num(), m.Text())
	case DoShutDown:
		g.ShutDown(num())
	case DoDrain:
		g.ShutDownWithDrain(num())
	case DoStop:
		g.Stop(num())
	default:
		s.seldom(order, m)
	}
}

// seldom carries out an order that does not come in every step.
func (s *session) seldom(order byte, m *wire.Message) {
	g, num := s.gates, func() int { return int(m.Num()) }
	switch order {
	case DoInformer:
		var spec gates.InformerSpec
		m.JSON(&spec)
		spec.Example = &Object{}
		s.fail(g.NewInformer(spec))
	case DoHandler:
		s.fail(g.AddHandler(num(), m.Duration(), num()))
	case DoRemove:
		s.fail(g.RemoveHandler(num(), num()))
	case DoStart:
		info, err := g.Start(num())
		s.fail(err)
		s.results.Flag(info.Delta).Flag(info.Atomic).Duration(info.Resync)
	case DoQueue:
		var spec gates.WorkersSpec
		m.JSON(&spec)
		g.NewQueue(spec)
	case DoQueueKeys:
		AddTexts(&s.results, g.QueueKeys(num(), num(), num()))
	case DoLastSync:
		s.results.Text(g.LastSync(num()))
	case DoRevision:
		s.results.Text(g.StoreRevision(num()))
	case DoKeys:
		AddTexts(&s.results, g.Keys(num()))
	case DoGet:
		s.add(&s.results, g.Get(num(), m.Text()))
	case DoIndex:
		n := num()
		var spec subjects.IndexSpec
		m.JSON(&spec)
		s.fail(g.AddIndex(n, spec))
	case DoIndexValues:
		AddTexts(&s.results, g.IndexValues(num(), m.Text()))
	case DoIndexKeys:
		AddTexts(&s.results, g.IndexKeys(num(), m.Text(), m.Text()))
	case DoOutcomes:
		s.results.JSON(g.Outcomes(num()))
	case DoLibrary:
		s.results.JSON(g.Library(uint64(m.Num())))
	case DoRead:
		n := num()
		var r subjects.Reading
		m.JSON(&r)
		found, err := g.Read(n, r)
		s.fail(err)
		s.results.Num(int64(len(found)))
		for _, obj := range found {
			s.add(&s.results, obj)
		}
	case DoGoroutines:
		AddTexts(&s.results, g.Goroutines())
	default:
		m.Broken(fmt.Errorf("an order %q: %w", order, wire.ErrProtocol))
	}
}

// answer answers a request.
func (s *session) answer(m *wire.Message) {
	id, err := m.Num(), ReadError(m)
	a := gates.Answer{Err: err, ResourceVersion: m.Text(), Continue: m.Text()}
	if m.Flag() {
		left := m.Num()
		a.Remaining = &left
	}
	for n := m.Num(); n > 0 && m.Err() == nil; n-- {
		if obj := s.read(m); obj != nil {
			a.Items = append(a.Items, obj)
		}
	}
	s.gates.Answer(id, a)
}

var _ runtime.Object = (*Object)(nil)
