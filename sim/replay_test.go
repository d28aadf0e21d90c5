package sim

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// replayOf returns a replay of a trace, and the kernel of a toy world that it drives.
func replayOf(tb failer, file []byte, names ...string) (*Replay, *Kernel, []*toy) {
	tb.Helper()
	r, err := NewTraceReader("t.trace.jsonl", bytes.NewReader(file))
	if err != nil {
		tb.Fatal(err)
	}
	p := NewReplay(r)
	h := r.Header()
	k, toys := toyWorld(Options{Seed: h.Seed + 1, Strategy: p, Tape: p, Start: h.Digest()}, names...)
	p.Bind(k)
	k.Observe(p)
	return p, k, toys
}

// A replay does not know the seed and still repeats the run: same hash, same bytes.
func TestReplayRepeatsTheRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Header{Scenario: "toy", Seed: rapid.Uint64().Draw(t, "seed")}
		names := []string{"a", "b", "c\xff"}
		file, _, first := writeTrace(t, h, rapid.IntRange(0, 200).Draw(t, "steps"), names...)

		p, k, _ := replayOf(t, file, names...)
		var again bytes.Buffer
		w, err := NewTraceWriter(k, &again, h)
		if err != nil {
			t.Fatal(err)
		}
		k.Observe(w)
		for k.Step() {
		}
		if k.Err() != nil || !p.Done() {
			t.Fatalf("done %v at step %d: %v", p.Done(), k.Steps(), k.Err())
		}
		if err := w.Close("pass", nil); err != nil {
			t.Fatal(err)
		}
		if k.Hash() != first.Hash() || k.Steps() != first.Steps() || k.Faults() != first.Faults() || k.Elapsed() != first.Elapsed() {
			t.Fatalf("hash %x after %d steps, was %x after %d", k.Hash(), k.Steps(), first.Hash(), first.Steps())
		}
		if !bytes.Equal(again.Bytes(), file) {
			t.Fatal("the trace of the replay differs from the trace")
		}
	})
}

// script is a world of one actor whose three steps run the given functions.
type script struct {
	name  string
	steps [3]func(k *Kernel, s *Stream, id ActorID)
}

func emit(key string, rv int64) func(*Kernel, *Stream, ActorID) {
	return func(k *Kernel, _ *Stream, id ActorID) {
		r := k.Record(id, kindTestHappen)
		r.Key, r.RV = key, rv
		k.Emit(r)
	}
}

func draw(n int) func(*Kernel, *Stream, ActorID) {
	return func(_ *Kernel, s *Stream, _ ActorID) {
		for range n {
			s.Uint64()
		}
	}
}

func nothing(*Kernel, *Stream, ActorID) {}

func (w script) kernel(o Options) *Kernel {
	o.Start = Header{}.Digest()
	k := NewKernel(o)
	s := k.Stream("s")
	f := &fake{name: w.name}
	id := k.Register(f)
	f.apply = func(c Choice) {
		w.steps[c.Target](k, s, id)
		if c.Target < 2 {
			k.Offer(id, kindTestAct, c.Target+1)
		}
	}
	k.Offer(id, kindTestAct, 0)
	return k
}

func (w script) trace(t *testing.T) []byte {
	t.Helper()
	k := w.kernel(Options{Strategy: NewFIFO()})
	var file bytes.Buffer
	tw, err := NewTraceWriter(k, &file, Header{})
	if err != nil {
		t.Fatal(err)
	}
	k.Observe(tw)
	for k.Step() {
	}
	if k.Err() != nil {
		t.Fatal(k.Err())
	}
	if err := tw.Close("pass", nil); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func TestReplaySaysWhereARunDiverges(t *testing.T) {
	type step = func(*Kernel, *Stream, ActorID)
	world := func(second step) script { return script{name: "a", steps: [3]step{nothing, second, nothing}} }
	offer := func(k *Kernel, _ *Stream, id ActorID) { k.Offer(id, kindTestDrop, 5) }
	timer := func(d time.Duration) step {
		return func(k *Kernel, _ *Stream, _ ActorID) { k.Clock().AfterFunc(d, func() {}) }
	}
	for _, test := range []struct {
		name          string
		traced, rerun script
		step          uint64
		want          string
	}{
		{"actor missing", world(nothing), script{name: "b", steps: world(nothing).steps}, 1,
			`the trace picks test-act of actor "a", which this run does not have (yet); it has: clock; b`},
		{"choice not enabled", world(offer), world(func(k *Kernel, s *Stream, id ActorID) { offer(k, s, id); offer(k, s, id) }), 3,
			"the trace picks a test-act target=2 seq=4, which is not enabled; enabled are: a test-act target=2 seq=5; a test-drop target=5 seq=3; a test-drop target=5 seq=4"},
		{"time may not pass", world(timer(time.Second)), world(nothing), 4,
			"the trace picks clock advance target=0 seq=1, which is not enabled; enabled are: nothing"},
		{"record differs in key", world(emit("k", 1)), world(emit("l", 1)), 2,
			"the run emits\n  a test-happened t=0s key=\"l\" rv=1 n=0 \"\"\nthe trace has\n  a test-happened t=0s key=\"k\" rv=1 n=0 \"\""},
		{"record differs in rv", world(emit("k", 1)), world(emit("k", 2)), 2, "the run emits\n  a test-happened t=0s key=\"k\" rv=2"},
		{"record missing", world(emit("k", 1)), world(nothing), 2, "the run lacks the record\n  a test-happened t=0s key=\"k\" rv=1 n=0 \"\""},
		{"record extra", world(nothing), world(emit("k", 1)), 2, "the run emits one record more than the trace:\n  a test-happened t=0s key=\"k\" rv=1 n=0 \"\""},
		{"draw missing", world(draw(1)), world(draw(3)), 2, "the run draws random number 2 of this step, but the trace does not have it"},
		{"draw where there is none", world(nothing), world(draw(1)), 2, "the run draws random number 1 of this step, but the trace does not have it"},
		{"draw too many", world(draw(3)), world(draw(1)), 2, "the run draws 1 random numbers, the trace has 3"},
		{"clock differs", world(timer(time.Second)), world(timer(2 * time.Second)), 5, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.name == "clock differs" { // needs a step after the clock moved
				again := func(d time.Duration) step {
					return func(k *Kernel, _ *Stream, id ActorID) {
						k.Clock().AfterFunc(d, func() { k.Clock().AfterFunc(time.Second, func() {}) })
					}
				}
				test.traced, test.rerun = world(again(time.Second)), world(again(2*time.Second))
				test.want = "the clock is at 2s, in the trace at 1s"
			}
			r, err := NewTraceReader("t.trace.jsonl", bytes.NewReader(test.traced.trace(t)))
			if err != nil {
				t.Fatal(err)
			}
			p := NewReplay(r)
			k := test.rerun.kernel(Options{Strategy: p, Tape: p})
			p.Bind(k)
			k.Observe(p)
			for k.Step() {
			}
			var d *DivergedError
			if !errors.As(k.Err(), &d) || d.Step != test.step || d.Why != test.want && !strings.HasPrefix(d.Why, test.want) {
				t.Errorf("got  %v\nwant step %d: %s", k.Err(), test.step, test.want)
			}
			if p.Done() || p.Finish() == nil {
				t.Error("Done reports true after a divergence")
			}
			if k.Step() {
				t.Error("the run continues")
			}
		})
	}
}

// A replay that is stopped early reports the next step of the trace, without consuming it.
func TestReplayThatEndsBeforeItsTrace(t *testing.T) {
	file, _, first := writeTrace(t, Header{Seed: 4}, 30, "a", "b")
	p, k, _ := replayOf(t, file, "a", "b")
	for step := uint64(1); step <= 30; step++ {
		var d *DivergedError
		if err := p.Finish(); !errors.As(err, &d) || d.Step != step || !strings.Contains(err.Error(), "the run is over, but the trace continues with ") || p.Done() {
			t.Fatalf("before step %d: Finish = %v", step, err)
		}
		run(t, k, 1)
	}
	if err := p.Finish(); err != nil || !p.Done() || k.Hash() != first.Hash() {
		t.Errorf("after the last step: Finish = %v", err)
	}
	if k.Step() || k.Err() != nil {
		t.Errorf("after the end of the trace: %v", k.Err())
	}

	// Damage in the rest of the trace is reported with its line.
	p, k, _ = replayOf(t, file[:bytes.Index(file, []byte(`{"end":`))], "a", "b")
	run(t, k, 30)
	var te *TraceError
	if err := p.Finish(); !errors.As(err, &te) || te.Line != bytes.Count(file, []byte("\n")) {
		t.Errorf("a trace without its end: Finish = %v", err)
	}
}

func TestReplayWithoutItsHeader(t *testing.T) {
	file, _, _ := writeTrace(t, Header{Seed: 1}, 10, "a")
	r, err := NewTraceReader("t.trace.jsonl", bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	p := NewReplay(r)
	k, _ := toyWorld(Options{Strategy: p, Tape: p}, "a") // no Start
	if k.Step() || !strings.Contains(fmt.Sprint(k.Err()), "Bind") {
		t.Errorf("without Bind: %v", k.Err())
	}

	r, err = NewTraceReader("t.trace.jsonl", bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	p = NewReplay(r)
	k, _ = toyWorld(Options{Strategy: p, Tape: p}, "a")
	p.Bind(k)
	k.Observe(p)
	if k.Step() || !strings.Contains(fmt.Sprint(k.Err()), "the run was not started from the trace's header") {
		t.Errorf("without Start: %v", k.Err())
	}
}

func TestReplayOfAnUnknownKind(t *testing.T) {
	file, _, _ := writeTrace(t, Header{}, 1, "a")
	_, steps, err := readTrace(file)
	if err != nil {
		t.Fatal(err)
	}
	// A trace of a build that knew more kinds, with matching hashes.
	head := bytes.SplitAfter(file, []byte("\n"))[0]
	s := steps[0]
	s.Kind = "of-a-newer-build"
	h := FormatHash(hashStep(Header{}.Digest(), s))
	var b strings.Builder
	fmt.Fprintf(&b, `%s{"s":1,"t":0,"a":"a","k":%q,"q":%d,"d":[`, head, s.Kind, s.Seq)
	for i, d := range s.Draws {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q", d)
	}
	fmt.Fprintf(&b, "],\"h\":%q}\n", h)
	for _, r := range s.Records {
		fmt.Fprintf(&b, `{"r":%q,"a":%q,"key":%q,"rv":%d,"n":%d,"x":%q}`+"\n", r.Kind, r.Actor, r.Key, r.RV, r.N, r.Detail)
	}
	fmt.Fprintf(&b, `{"end":"pass","steps":1,"hash":%q}`+"\n", h)
	_, k, _ := replayOf(t, []byte(b.String()), "a")
	if k.Step() || !strings.Contains(fmt.Sprint(k.Err()), `step 1: the trace picks "of-a-newer-build" of a, a kind of choice unknown to this informersim`) {
		t.Errorf("error %v", k.Err())
	}
}

// Damage in a trace ends the replay at the step before it, with the place in the file.
func TestReplayOfADamagedTrace(t *testing.T) {
	file, _, _ := writeTrace(t, Header{}, 50, "a", "b")
	i := bytes.Index(file, []byte(`{"s":30,`))
	_, k, _ := replayOf(t, file[:i], "a", "b")
	for k.Step() {
	}
	line := bytes.Count(file[:i], []byte("\n")) + 1
	want := fmt.Sprintf("t.trace.jsonl:%d: the trace is cut off after step 29: its end line is missing", line)
	if k.Steps() != 29 || k.Err() == nil || k.Err().Error() != want {
		t.Errorf("at step %d: %v, want %s", k.Steps(), k.Err(), want)
	}
}

// The message stays short with many enabled choices.
func TestReplayMessageIsShort(t *testing.T) {
	traced := newChurn(NewFIFO(), 1, 0)
	var file bytes.Buffer
	w, err := NewTraceWriter(traced, &file, Header{})
	if err != nil {
		t.Fatal(err)
	}
	traced.Observe(w)
	run(t, traced, 2)
	if err := w.Close("pass", nil); err != nil {
		t.Fatal(err)
	}
	r, err := NewTraceReader("t", &file)
	if err != nil {
		t.Fatal(err)
	}
	p := NewReplay(r)
	k := newChurn(p, 1000, 100)
	p.Bind(k)
	k.Observe(p)
	k.Clock().NewTicker(time.Second)
	for k.Step() {
	}
	msg := fmt.Sprint(k.Err())
	if !strings.HasPrefix(msg, "step 2: the trace picks churn test-act target=0 seq=2, which is not enabled") ||
		!strings.Contains(msg, "; and 1088 more") || len(msg) > 700 {
		t.Errorf("message of %d bytes: %s", len(msg), msg)
	}
}
