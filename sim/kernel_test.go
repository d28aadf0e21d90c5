package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// The ready set does not depend on the order in which actors offer, so neither does a schedule.
func TestCanonicalOrderIsIndependentOfArrival(t *testing.T) {
	names := map[string]bool{}
	var order []string
	for i := range 40 {
		order = append(order, fmt.Sprintf("actor-%02d", i))
		names[order[i]] = true
	}
	world := func() (*Kernel, string) {
		k := NewKernel(Options{Strategy: NewRandom(7, nil)})
		id := map[string]ActorID{}
		for _, name := range order {
			f := &fake{name: name}
			id[name] = k.Register(f)
		}
		var arrived []string
		for name := range names { // Go map order, on purpose
			arrived = append(arrived, name)
			k.Offer(id[name], kindTestAct, 0)
			k.Offer(id[name], kindTestAct, 1)
		}
		return k, strings.Join(arrived, " ")
	}
	arrivals := map[string]bool{}
	hashes := map[uint64]bool{}
	for range 20 {
		k, arrived := world()
		arrivals[arrived] = true
		if !slices.IsSortedFunc(k.Ready().Actions, func(a, b Offer) int { return int(a.order() - b.order()) }) {
			t.Fatal("the ready set is not in canonical order")
		}
		run(t, k, 80)
		hashes[k.Hash()] = true
	}
	if len(arrivals) < 2 {
		t.Fatal("map order was the same 20 times: the test does not exercise other orders")
	}
	if len(hashes) != 1 {
		t.Errorf("%d different runs from %d orders of arrival", len(hashes), len(arrivals))
	}
}

func TestKernelStep(t *testing.T) {
	k := NewKernel(Options{Seed: 5, Strategy: NewFIFO(), Start: 99})
	seen := &recorder{}
	k.Observe(seen)
	stream := k.Stream("s")
	var drawn uint64
	f := &fake{name: "a"}
	id := k.Register(f)
	f.apply = func(c Choice) {
		if c.Target != 7 {
			t.Errorf("applied %s", k.Describe(c))
		}
		if k.Steps() != 1 {
			t.Errorf("Steps = %d during the first step", k.Steps())
		}
		if !k.Quiet() {
			t.Error("the applied choice is still offered")
		}
		r := k.Record(id, kindTestHappen)
		r.Key, r.RV, r.N, r.Detail, r.Obj = "default/a", 3, 4, "x", f
		k.Emit(r)
		if r := k.Record(id, kindTestHappen); r.Key != "" || r.Obj != nil {
			t.Error("Record must be cleared")
		}
		drawn = stream.Uint64()
		k.Clock().AfterFunc(time.Second, func() {
			k.Emit(k.Record(id, kindTestHappen))
		})
	}
	k.Offer(id, kindTestAct, 7)
	if k.Seed() != 5 || k.Hash() != 99 || k.Steps() != 0 || k.Elapsed() != 0 {
		t.Error("a new kernel must report step 0 and its start hash")
	}
	run(t, k, 2)
	if k.Step() || k.Err() != nil {
		t.Errorf("with nothing to do, Step must be false without an error; err %v", k.Err())
	}
	if k.Stream("s") != stream {
		t.Error("Stream must return the same stream for the same name")
	}
	want := []Record{
		{Step: 1, Actor: id, Kind: kindTestHappen, Key: "default/a", RV: 3, N: 4, Detail: "x", Obj: f},
		{Step: 2, At: time.Second, Actor: id, Kind: kindTestHappen},
	}
	if !slices.Equal(seen.records, want) {
		t.Errorf("records\n%+v, want\n%+v", seen.records, want)
	}
	if len(seen.steps) != 2 {
		t.Fatalf("%d steps seen", len(seen.steps))
	}
	one, two := seen.steps[0], seen.steps[1]
	if one.Step != 1 || one.At != 0 || k.Describe(one.Choice) != "a test-act target=7 seq=1" || !slices.Equal(one.Draws, []uint64{drawn}) {
		t.Errorf("step 1: %+v", one)
	}
	if two.Step != 2 || two.At != time.Second || k.Describe(two.Choice) != "clock advance target=0 seq=1" || len(two.Draws) != 0 {
		t.Errorf("step 2: %+v", two)
	}
	if two.Hash != k.Hash() || one.Hash == two.Hash || one.Hash == 99 {
		t.Error("each step's hash must differ, and the last be the run's")
	}
}

// fragile is an observer that panics once, at a record or at the end of a step.
type fragile struct {
	recorder
	atRecord, atEnd int
}

func (f *fragile) Record(r *Record) {
	f.recorder.Record(r)
	if len(f.records) == f.atRecord {
		panic("at a record")
	}
}

func (f *fragile) StepEnd(s *StepInfo) {
	f.recorder.StepEnd(s)
	if len(f.steps) == f.atEnd {
		panic("at the end of a step")
	}
}

// Whatever a step is abandoned for, each observer has heard of each record, and of the end of each step, once: a trace without them would be damaged.
func TestAbandonedStepIsToldOnce(t *testing.T) {
	for _, broken := range []*fragile{{atRecord: 3}, {atEnd: 2}, {}} {
		k := NewKernel(Options{Strategy: NewFIFO()})
		before, behind := &recorder{}, &recorder{}
		k.Observe(before)
		k.Observe(broken)
		k.Observe(behind)
		f := &fake{name: "a"}
		id := k.Register(f)
		applied := 0
		f.apply = func(Choice) {
			k.Emit(k.Record(id, kindTestHappen))
			k.Emit(k.Record(id, kindTestHappen))
			if applied++; applied == 2 && broken.atRecord+broken.atEnd == 0 {
				panic("in the middle of a step")
			}
		}
		k.Offer(id, kindTestAct, 1)
		k.Offer(id, kindTestAct, 2)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("nothing has panicked")
				}
				k.AbandonStep()
				k.AbandonStep()
			}()
			run(t, k, 2)
		}()
		for name, o := range map[string]*recorder{"before": before, "broken": &broken.recorder, "behind": behind} {
			if len(o.steps) != 2 || o.steps[1].Hash != k.Hash() || len(o.records) != len(before.records) || len(o.records) < 3 {
				t.Errorf("%+v: the observer %s has %d steps and %d records, and the first one %d", broken, name, len(o.steps), len(o.records), len(before.records))
			}
		}
	}
}

// The choice of a step that is not over is known, with the numbers that it has drawn so far: a run that is cut off there can be made again.
func TestUnderWay(t *testing.T) {
	k := NewKernel(Options{Strategy: NewFIFO()})
	f := &fake{name: "a"}
	id := k.Register(f)
	var during Pick
	f.apply = func(Choice) {
		drawn := k.Stream("s").Uint64()
		var ok bool
		if during, ok = k.UnderWay(); !ok || len(during.Draws) != 1 || during.Draws[0] != drawn {
			t.Errorf("%+v, %v; %d was drawn", during, ok, drawn)
		}
	}
	k.Offer(id, kindTestAct, 7)
	run(t, k, 1)
	if during.Actor != "a" || during.Kind != kindTestAct || during.Target != 7 {
		t.Errorf("the choice is %+v", during)
	}
	if p, ok := k.UnderWay(); ok {
		t.Errorf("between two steps, it is %+v", p)
	}
}

func TestEveryPartOfAStepIsHashed(t *testing.T) {
	type variant struct {
		name   string
		start  uint64
		actor  string
		kind   Kind
		target uint32
		early  time.Duration
		record func(*Record)
		extra  int // records more
		draws  int
	}
	hash := func(v variant) uint64 {
		k := NewKernel(Options{Strategy: NewFIFO(), Start: v.start})
		f := &fake{name: v.actor}
		id := k.Register(f)
		s := k.Stream("s")
		f.apply = func(Choice) {
			for range 1 + v.extra {
				r := k.Record(id, kindTestHappen)
				if v.record != nil {
					v.record(r)
				}
				k.Emit(r)
			}
			for range v.draws {
				s.Uint64()
			}
		}
		if v.early > 0 {
			k.Clock().LimitTo(v.early)
			run(t, k, 1)
		}
		k.Offer(id, v.kind, v.target)
		run(t, k, 1)
		return k.Hash()
	}
	plain := variant{name: "plain", actor: "a", kind: kindTestAct}
	with := func(name string, change func(*variant)) variant {
		v := plain
		v.name = name
		change(&v)
		return v
	}
	text := func(key, detail string) func(*variant) {
		return func(v *variant) { v.record = func(r *Record) { r.Key, r.Detail = key, detail } }
	}
	seen := map[uint64]string{}
	for _, v := range []variant{
		plain,
		with("start", func(v *variant) { v.start = 1 }),
		with("actor", func(v *variant) { v.actor = "b" }),
		with("kind", func(v *variant) { v.kind = kindTestLine }),
		with("target", func(v *variant) { v.target = 1 }),
		with("time", func(v *variant) { v.early = 1 }),
		with("an extra record", func(v *variant) { v.extra = 1 }),
		with("a draw", func(v *variant) { v.draws = 1 }),
		with("as many draws as a record is long", func(v *variant) { v.draws = 6 }),
		with("key", text("a", "")),
		with("detail", text("", "a")),
		with("key and detail", text("a", "b")),
		with("all in the key", text("ab", "")),
		with("rv", func(v *variant) { v.record = func(r *Record) { r.RV = 1 } }),
		with("n", func(v *variant) { v.record = func(r *Record) { r.N = 1 } }),
		with("record kind", func(v *variant) { v.record = func(r *Record) { r.Kind = kindTestDrop } }),
		with("record actor", func(v *variant) { v.record = func(r *Record) { r.Actor = 0 } }),
		with("record time", func(v *variant) { v.record = func(r *Record) { r.At = 1 } }),
	} {
		h := hash(v)
		if other, clash := seen[h]; clash {
			t.Errorf("%q and %q have the same hash", v.name, other)
		}
		seen[h] = v.name
		if again := hash(v); again != h {
			t.Errorf("%q has two hashes", v.name)
		}
	}
}

func TestEmitAndDrawOutsideAStepPanic(t *testing.T) {
	k := NewKernel(Options{Strategy: NewFIFO()})
	id := k.Register(&fake{name: "a"})
	emit := func() { k.Emit(k.Record(id, kindTestHappen)) }
	draw := func() { k.Stream("jitter").Uint64() }
	for range 2 { // before the first step, and between steps
		mustPanic(t, `sim: record "test-happened" of a is emitted outside a step`, emit)
		mustPanic(t, "sim: a recorded stream was used outside a step", draw)
		k.Offer(id, kindTestAct, 0)
		run(t, k, 1)
	}
}

// picker picks a given choice.
type picker struct {
	choice Choice
	err    error
}

func (*picker) Name() string                          { return "picker" }
func (p *picker) Pick(*Ready, uint64) (Choice, error) { return p.choice, p.err }

func TestStrategyPicksADisabledChoice(t *testing.T) {
	for _, test := range []struct {
		name string
		pick func(k *Kernel, c Choice) Choice
		want string
	}{
		{"another sequence", func(_ *Kernel, c Choice) Choice { c.Seq++; return c }, "a test-act target=3 seq=2, which is not enabled"},
		{"another target", func(_ *Kernel, c Choice) Choice { c.Target++; return c }, "a test-act target=4 seq=1, which is not enabled"},
		{"another kind", func(_ *Kernel, c Choice) Choice { c.Kind = kindTestDrop; return c }, "a test-drop target=3 seq=1, which is not enabled"},
		{"withdrawn", func(k *Kernel, c Choice) Choice { k.Withdraw(c); return c }, "which is not enabled"},
		{"no such actor", func(_ *Kernel, c Choice) Choice { c.Actor = 77; return c }, "actor(77) test-act target=3 seq=1, which is not enabled"},
		{"no such kind", func(_ *Kernel, c Choice) Choice { c.Kind = 65535; return c }, "a kind(65535) target=3 seq=1, which is not enabled"},
		{"a record's kind", func(_ *Kernel, c Choice) Choice { c.Kind = kindTestHappen; return c }, "which is not enabled"},
		{"nothing", func(*Kernel, Choice) Choice { return Choice{} }, "which is not enabled"},
		{"time without a timer", func(k *Kernel, _ Choice) Choice { return k.Ready().Advance }, "clock advance target=0 seq=1, but time must not be advanced now"},
		{"another advance", func(k *Kernel, _ Choice) Choice {
			k.Clock().LimitTo(time.Second)
			c := k.Ready().Advance
			c.Seq++
			return c
		}, "clock advance target=0 seq=2, but time must not be advanced now"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := &picker{}
			k := NewKernel(Options{Strategy: p})
			id := k.Register(&fake{name: "a", apply: func(Choice) { t.Error("it was applied") }})
			p.choice = test.pick(k, k.Offer(id, kindTestAct, 3))
			if k.Step() || k.Err() == nil || !strings.Contains(k.Err().Error(), test.want) {
				t.Errorf("Step with error %v, want %q", k.Err(), test.want)
			}
			if !strings.Contains(fmt.Sprint(k.Err()), "picker") {
				t.Errorf("%v does not name the strategy", k.Err())
			}
			if k.Steps() != 0 || k.Faults() != 0 {
				t.Errorf("%d steps and %d faults are counted", k.Steps(), k.Faults())
			}
		})
	}
}

func TestFailEndsTheRun(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	k := NewKernel(Options{Strategy: NewFIFO()})
	seen := &recorder{}
	k.Observe(seen)
	f := &fake{name: "a"}
	id := k.Register(f)
	f.apply = func(Choice) {
		k.Fail(first)
		k.Fail(second)
		k.Emit(k.Record(id, kindTestHappen))
	}
	k.Offer(id, kindTestAct, 0)
	k.Offer(id, kindTestAct, 1)
	if k.Step() || k.Err() != first {
		t.Errorf("the step that fails must return false with the first error, got %v", k.Err())
	}
	if len(seen.records) != 1 || len(seen.steps) != 1 {
		t.Error("the step that fails must be completed, or its trace would lack its end")
	}
	if k.Step() || k.Steps() != 1 {
		t.Error("a failed run takes another step")
	}

	own := errors.New("strategy's own")
	k = NewKernel(Options{Strategy: &picker{err: own}})
	if k.Step() || k.Err() != own {
		t.Errorf("a strategy's error must be the run's, got %v", k.Err())
	}
	k = NewKernel(Options{Strategy: &picker{err: fmt.Errorf("paused: %w", ErrNothingToDo)}})
	if k.Step() || k.Err() != nil {
		t.Errorf("ErrNothingToDo is no failure, got %v", k.Err())
	}
}

func TestFaultsAreCounted(t *testing.T) {
	p := &picker{}
	k := NewKernel(Options{Strategy: p})
	id := k.Register(&fake{name: "a"})
	for i, kind := range []Kind{kindTestDrop, kindTestAct, kindTestStall, kindTestLine} {
		p.choice = k.Offer(id, kind, 0)
		run(t, k, 1)
		if want := uint64(i/2 + 1); k.Faults() != want {
			t.Errorf("after %s: %d faults, want %d", kind, k.Faults(), want)
		}
	}
}

func TestMistakesInTheProgram(t *testing.T) {
	k := NewKernel(Options{Strategy: NewFIFO()})
	id := k.Register(&fake{name: "a"})
	mustPanic(t, `two actors are named "a"`, func() { k.Register(&fake{name: "a"}) })
	mustPanic(t, `two actors are named "clock"`, func() { k.Register(&fake{name: "clock"}) })
	mustPanic(t, `no actor "b" to take over from`, func() { k.TakeOver(&fake{name: "b"}) })
	k.Offer(id, kindTestAct, 0)
	mustPanic(t, `another actor takes over from "a", which still offers test-act`, func() { k.TakeOver(&fake{name: "a"}) })
	mustPanic(t, `"test-happened" is not a kind that can be offered`, func() { k.Offer(id, kindTestHappen, 0) })
	mustPanic(t, `"advance" is not a kind that can be offered`, func() { k.Offer(id, kindAdvance, 0) })
	mustPanic(t, `"kind(65535)" is not a kind that can be offered`, func() { k.Offer(id, 65535, 0) })
	mustPanic(t, `kind "test-act" is registered twice, with classes 0 and 2`, func() { RegisterKind("test-act", ClassFault) })
	mustPanic(t, `"" is not a valid name for a kind`, func() { RegisterKind("", ClassFault) })
	mustPanic(t, `"\xff" is not a valid name for a kind`, func() { RegisterKind("\xff", ClassFault) })
	mustPanic(t, "needs a strategy", func() { NewKernel(Options{}) })
}

func TestNames(t *testing.T) {
	if again := RegisterKind("test-act", ClassAction); again != kindTestAct {
		t.Error("registering a kind again must give the same kind")
	}
	if k, ok := KindByName("test-drop"); !ok || k != kindTestDrop || k.String() != "test-drop" || k.Class() != ClassFault {
		t.Errorf("KindByName = %v %v", k, ok)
	}
	if _, ok := KindByName("no such kind"); ok {
		t.Error("an unregistered kind was found")
	}
	if Kind(65535).Class() != ClassRecord || Kind(65535).String() != "kind(65535)" {
		t.Error("an unregistered kind must still print")
	}
	k := NewKernel(Options{Strategy: NewFIFO()})
	id := k.Register(&fake{name: "a"})
	if got, ok := k.ActorByName("a"); !ok || got != id || k.ActorName(id) != "a" {
		t.Errorf("ActorByName = %v %v", got, ok)
	}
	if _, ok := k.ActorByName("b"); ok {
		t.Error("an unregistered actor was found")
	}
	odd := k.Register(&fake{name: "a\xff"})
	if got, ok := k.ActorByName("a\ufffd"); !ok || got != odd {
		t.Error("a name that is not UTF-8 must become one that a trace can represent")
	}
}

// A kernel can use kinds that are registered after it was created.
func TestKindRegisteredLate(t *testing.T) {
	k := NewKernel(Options{Strategy: NewFIFO()})
	id := k.Register(&fake{name: "a"})
	k.Offer(id, kindTestAct, 0)
	late := RegisterKind("test-late", ClassScript)
	k.Offer(id, late, 0)
	seen := &recorder{}
	k.Observe(seen)
	run(t, k, 1)
	if got := seen.steps[0].Choice.Kind; got != late {
		t.Errorf("picked %s", got)
	}
}

func TestChoiceIsASmallValue(t *testing.T) {
	if size := unsafe.Sizeof(Choice{}); size > 16 {
		t.Errorf("a Choice has %d bytes", size)
	}
	if size := unsafe.Sizeof(Offer{}); size > 24 {
		t.Errorf("an Offer has %d bytes", size)
	}
}

// A name has two lives: of the same name in traces and hashes, whose sequence numbers go on, but with IDs of their own.
func TestTakeOver(t *testing.T) {
	k := NewKernel(Options{Strategy: NewFIFO()})
	var applied []string
	life := func(which string) *fake {
		return &fake{name: "a", apply: func(Choice) { applied = append(applied, which) }}
	}
	first := k.Register(life("first"))
	k.Offer(first, kindTestAct, 0)
	run(t, k, 1)
	second := k.TakeOver(life("second"))
	if byName, _ := k.ActorByName("a"); first == second || byName != second || k.ActorName(first) != "a" {
		t.Errorf("the lives have the IDs %d and %d; the name stands for %d, and the first ID for %q", first, second, byName, k.ActorName(first))
	}
	if c := k.Offer(second, kindTestAct, 0); c.Seq != 2 {
		t.Errorf("the second life begins with sequence number %d, want 2", c.Seq)
	}
	run(t, k, 1)
	if want := []string{"first", "second"}; !slices.Equal(applied, want) {
		t.Errorf("applied: %q, want %q", applied, want)
	}
}
