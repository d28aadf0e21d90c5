package sim

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var (
	kindTestAct    = RegisterKind("test-act", ClassAction)
	kindTestLine   = RegisterKind("test-line", ClassScript)
	kindTestDrop   = RegisterKind("test-drop", ClassFault)
	kindTestStall  = RegisterKind("test-stall", ClassFault)
	kindTestHappen = RegisterKind("test-happened", ClassRecord)
)

// rate returns the same rate for every kind of fault.
func rate(p float64) FaultRate { return func(Kind) float64 { return p } }

// churn is an actor that offers each choice again once it is applied, and emits one record.
type churn struct {
	k  *Kernel
	id ActorID
}

// newChurn returns a kernel with a churn that has the given numbers of actions and of faults, of two kinds.
func newChurn(s Strategy, actions, faults int) *Kernel {
	k := NewKernel(Options{Seed: 1, Strategy: s, Start: Header{}.Digest()})
	if pos, ok := s.(*POS); ok {
		pos.Bind(k)
	}
	c := &churn{k: k}
	c.id = k.Register(c)
	for i := range actions {
		k.Offer(c.id, kindTestAct, uint32(i))
	}
	for i := range faults {
		kind := kindTestDrop
		if i%2 == 1 {
			kind = kindTestStall
		}
		k.Offer(c.id, kind, uint32(i))
	}
	return k
}

func (c *churn) Name() string { return "churn" }

func (c *churn) Apply(ch Choice) {
	r := c.k.Record(c.id, kindTestHappen)
	r.Key, r.RV = "default/a", int64(ch.Target)
	c.k.Emit(r)
	c.k.Offer(c.id, ch.Kind, ch.Target)
}

// fake is an actor made of functions.
type fake struct {
	name  string
	apply func(Choice)
}

func (f *fake) Name() string { return f.name }

func (f *fake) Apply(c Choice) {
	if f.apply != nil {
		f.apply(c)
	}
}

// toy is an actor that does a bit of everything, as its recorded stream decides: it emits records, offers and withdraws
// choices, and sets timers that do so later.
type toy struct {
	k       *Kernel
	id      ActorID
	name    string
	stream  *Stream
	offered []Choice
	words   []string // what the records' details are taken from
	twist   func(*Record)
}

var toyWords = []string{"", "added", "modified", "<deleted> & \"gone\"", "ünïcode\u2028", "line\nbreak", "\xff\xfe not UTF-8"}

// toyWorld returns a kernel with a few toys.
func toyWorld(o Options, names ...string) (*Kernel, []*toy) {
	k := NewKernel(o)
	var toys []*toy
	for _, name := range names {
		t := &toy{k: k, name: name, words: toyWords, stream: k.Stream("toy/" + name)}
		t.id = k.Register(t)
		t.offer(kindTestAct)
		toys = append(toys, t)
	}
	return k, toys
}

func (t *toy) Name() string { return t.name }

func (t *toy) offer(kind Kind) {
	t.offered = append(t.offered, t.k.Offer(t.id, kind, uint32(len(t.offered))))
}

func (t *toy) Apply(c Choice) {
	for range t.stream.IntN(3) {
		t.emit(c)
	}
	switch t.stream.IntN(4) {
	case 0:
		t.offer(kindTestDrop)
		t.offer(kindTestStall)
	case 1:
		t.offer(kindTestAct)
	case 2:
		t.k.Withdraw(t.offered[t.stream.IntN(len(t.offered))])
	case 3:
		t.k.Clock().AfterFunc(time.Duration(t.stream.IntN(5))*time.Second, func() { t.emit(c) })
	}
	t.offer(kindTestAct)
	if len(t.offered) > 16 {
		for _, old := range t.offered[:8] {
			t.k.Withdraw(old)
		}
		t.offered = append(t.offered[:0], t.offered[8:]...)
	}
}

func (t *toy) emit(c Choice) {
	r := t.k.Record(t.id, kindTestHappen)
	r.Key = fmt.Sprintf("default/%s-%d", t.name, c.Target)
	r.Detail = t.words[t.stream.IntN(len(t.words))]
	r.RV, r.N = int64(c.Seq), int64(t.stream.IntN(3))
	if t.twist != nil {
		t.twist(r)
	}
	t.k.Emit(r)
}

// failer is a *testing.T, a *testing.B or a *rapid.T.
type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// run takes the given number of steps and fails the test if the run stops earlier.
func run(tb failer, k *Kernel, steps int) {
	tb.Helper()
	for i := range steps {
		if !k.Step() {
			tb.Fatalf("the run stopped after %d of %d steps: %v", i, steps, k.Err())
		}
	}
}

// recorder is an observer that keeps everything.
type recorder struct {
	records []Record
	steps   []StepInfo
}

func (o *recorder) Record(r *Record) { o.records = append(o.records, *r) }

func (o *recorder) StepEnd(s *StepInfo) {
	info := *s
	info.Draws = append([]uint64(nil), s.Draws...)
	o.steps = append(o.steps, info)
}

// mustPanic fails the test unless f panics with a text that contains want.
func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
			t.Errorf("panic %q does not contain %q", got, want)
		}
	}()
	f()
}
