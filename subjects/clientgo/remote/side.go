package remote

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo"
	"github.com/informersim/informersim/subjects/clientgo/gates"
	"github.com/informersim/informersim/subjects/clientgo/pipe"
	"github.com/informersim/informersim/world/wire"
)

// side is a clientgo.Side at the other end of a pipe. Orders gather in a packet until one has a result. Once the guest has failed, they
// do nothing.
type side struct {
	guest   *Guest
	p       *process
	tell    func(*gates.Event)
	objects *pipe.Objects
	order   *wire.Packet
	elapsed time.Duration
	panics  string
	err     error // the guest has failed

	interleaved bool
}

var _ clientgo.Side = (*side)(nil)

// do adds an order with numbers.
func (s *side) do(order byte, nums ...int) *wire.Packet {
	s.order.Byte(order)
	for _, n := range nums {
		s.order.Num(int64(n))
	}
	return s.order
}

// trip sends the orders and tells what has happened. What it returns are the results.
func (s *side) trip() *wire.Message {
	order := s.order
	s.order = wire.New(pipe.Do)
	if s.err != nil {
		return &wire.Message{}
	}
	if err := order.Send(s.p.in); err != nil {
		s.lost()
		return &wire.Message{}
	}
	m, err := wire.Receive(s.p.out)
	switch {
	case err != nil:
		s.lost()
		return &wire.Message{}
	case m.Kind != pipe.Report:
		s.ended(m)
		return &wire.Message{}
	}
	s.elapsed, s.panics = m.Duration(), m.Text()
	events := m.Field()
	for events.More() {
		e := s.objects.ReadEvent(events)
		if events.Err() == nil {
			s.tell(&e)
		}
	}
	if err := events.Err(); err != nil {
		s.broken(err)
	}
	return m
}

func (s *side) Err() error { return s.err }

func (s *side) Seed(seed int64) { s.order.Byte(pipe.DoSeed).Num(seed) }

func (s *side) Quiesce() {
	s.do(pipe.DoQuiesce)
	s.trip()
}

func (s *side) Pass(d time.Duration) time.Duration {
	s.do(pipe.DoPass).Duration(d)
	if m := s.trip(); s.err == nil {
		return m.Duration()
	}
	return d
}

func (s *side) Elapsed() time.Duration { return s.elapsed }

func (s *side) Panic() *subjects.Failure {
	if s.panics == "" {
		return nil
	}
	return &subjects.Failure{Kind: subjects.Panicked, What: s.panics}
}

func (s *side) Goroutines() []string {
	s.do(pipe.DoGoroutines)
	return pipe.ReadTexts(s.trip())
}

// Interleaved implements clientgo.Side.
func (s *side) Interleaved() bool { return s.interleaved }

// failed reads an error that is a result.
func (s *side) failed() error {
	m := s.trip()
	if s.err != nil {
		return s.err
	}
	return pipe.ReadError(m)
}

func (s *side) NewInformer(spec gates.InformerSpec) error {
	s.do(pipe.DoInformer).JSON(spec)
	return s.failed()
}

func (s *side) AddHandler(informer int, resync time.Duration, through int) error {
	s.do(pipe.DoHandler, informer).Duration(resync).Num(int64(through))
	return s.failed()
}

func (s *side) RemoveHandler(informer, handler int) error {
	s.do(pipe.DoRemove, informer, handler)
	return s.failed()
}

func (s *side) Start(informer int) (gates.QueueInfo, error) {
	s.do(pipe.DoStart, informer)
	m := s.trip()
	if s.err != nil {
		return gates.QueueInfo{}, s.err
	}
	if err := pipe.ReadError(m); err != nil {
		return gates.QueueInfo{}, err
	}
	return gates.QueueInfo{Delta: m.Flag(), Atomic: m.Flag(), Resync: m.Duration()}, nil
}

func (s *side) Stop(informer int)   { s.do(pipe.DoStop, informer) }
func (s *side) Pop(informer int)    { s.do(pipe.DoPop, informer) }
func (s *side) Rescan(informer int) { s.do(pipe.DoRescan, informer) }

func (s *side) Answer(request int64, a gates.Answer) {
	p := s.order.Byte(pipe.DoAnswer).Num(request)
	pipe.AddError(p, a.Err)
	p.Text(a.ResourceVersion).Text(a.Continue).Flag(a.Remaining != nil)
	if a.Remaining != nil {
		p.Num(*a.Remaining)
	}
	p.Num(int64(len(a.Items)))
	for _, obj := range a.Items {
		s.objects.Add(p, obj)
	}
}

func (s *side) Frame(request int64, event watch.EventType, obj runtime.Object, end error) {
	p := s.order.Byte(pipe.DoFrame).Num(request).Text(string(event))
	s.objects.Add(p, obj)
	pipe.AddError(p, end)
}

func (s *side) Through(informer, handler, calls int) { s.do(pipe.DoThrough, informer, handler, calls) }

func (s *side) Return(informer, handler int, panics bool) {
	s.do(pipe.DoReturn, informer, handler).Flag(panics)
}

func (s *side) Drop(informer, handler int) { s.do(pipe.DoDrop, informer, handler) }

func (s *side) QueueKeys(informer, from, to int) []string {
	s.do(pipe.DoQueueKeys, informer, from, to)
	return pipe.ReadTexts(s.trip())
}

func (s *side) LastSync(informer int) string {
	s.do(pipe.DoLastSync, informer)
	return s.trip().Text()
}

func (s *side) StoreRevision(informer int) string {
	s.do(pipe.DoRevision, informer)
	return s.trip().Text()
}

func (s *side) Keys(informer int) []string {
	s.do(pipe.DoKeys, informer)
	return pipe.ReadTexts(s.trip())
}

func (s *side) Get(informer int, key string) any {
	s.do(pipe.DoGet, informer).Text(key)
	if m := s.trip(); s.err == nil {
		return s.objects.Read(m)
	}
	return nil
}

func (s *side) AddIndex(informer int, spec subjects.IndexSpec) error {
	s.do(pipe.DoIndex, informer).JSON(spec)
	return s.failed()
}

func (s *side) IndexValues(informer int, index string) []string {
	s.do(pipe.DoIndexValues, informer).Text(index)
	return pipe.ReadTexts(s.trip())
}

func (s *side) IndexKeys(informer int, index, value string) []string {
	s.do(pipe.DoIndexKeys, informer).Text(index).Text(value)
	return pipe.ReadTexts(s.trip())
}

func (s *side) Outcomes(informer int) (all []subjects.Outcome) {
	s.do(pipe.DoOutcomes, informer)
	if m := s.trip(); s.err == nil {
		m.JSON(&all)
	}
	return all
}

func (s *side) Library(turn uint64) (all []subjects.Outcome) {
	s.do(pipe.DoLibrary).Num(int64(turn))
	if m := s.trip(); s.err == nil {
		m.JSON(&all)
	}
	return all
}

func (s *side) Read(informer int, r subjects.Reading) (found []any, err error) {
	s.do(pipe.DoRead, informer).JSON(r)
	m := s.trip()
	if s.err != nil {
		return nil, s.err
	}
	err = pipe.ReadError(m)
	for n := m.Num(); n > 0 && m.Err() == nil; n-- {
		found = append(found, s.objects.Read(m))
	}
	return found, err
}

func (s *side) NewQueue(spec gates.WorkersSpec) {
	s.do(pipe.DoQueue).JSON(spec)
	s.trip()
}

func (s *side) AddKey(queue int, key string) {
	s.do(pipe.DoAdd, queue).Text(key)
	s.trip()
}

func (s *side) Admit(queue, worker int) { s.do(pipe.DoAdmit, queue, worker) }

func (s *side) Finish(queue, worker int, o gates.Outcome) {
	s.do(pipe.DoFinish, queue, worker).Byte(byte(o))
}

func (s *side) ShutDown(queue int) { s.do(pipe.DoShutDown, queue) }

// ShutDownWithDrain implements clientgo.Side.
func (s *side) ShutDownWithDrain(queue int) { s.do(pipe.DoDrain, queue) }
