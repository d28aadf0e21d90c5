package sim

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// then replays a trace in a world, and has FIFO go on after a difference.
func then(t *testing.T, trace []byte, w script) (*Replay, *Kernel) {
	t.Helper()
	r, err := NewTraceReader("t.trace.jsonl", bytes.NewReader(trace))
	if err != nil {
		t.Fatal(err)
	}
	p := NewReplay(r)
	p.Then(NewFIFO())
	k := w.kernel(Options{Strategy: p, Tape: p})
	p.Bind(k)
	k.Observe(p)
	for k.Step() {
	}
	if k.Err() != nil {
		t.Fatal(k.Err())
	}
	return p, k
}

// After the first difference the run is the one that the changed world makes by itself, and both sides of the step are there.
func TestReplayGoesOnAfterADifference(t *testing.T) {
	type step = func(*Kernel, *Stream, ActorID)
	world := func(second, third step) script { return script{name: "a", steps: [3]step{draw(2), second, third}} }
	offer := func(k *Kernel, _ *Stream, id ActorID) { k.Offer(id, kindTestAct, 2) }
	timer := func(d time.Duration) step {
		return func(k *Kernel, _ *Stream, _ ActorID) {
			k.Clock().AfterFunc(d, func() { k.Clock().AfterFunc(time.Second, func() {}) })
		}
	}
	both := func(steps ...step) step {
		return func(k *Kernel, s *Stream, id ActorID) {
			for _, f := range steps {
				f(k, s, id)
			}
		}
	}
	for _, test := range []struct {
		name          string
		traced, rerun script
		step          uint64
		trace, run    string // the keys of the step's records
	}{
		{"none", world(draw(1), nothing), world(draw(1), nothing), 0, "", ""},
		{"record differs", world(emit("k", 1), draw(1)), world(both(emit("l", 1), emit("m", 2)), draw(3)), 2, "k", "l m"},
		{"record extra", world(emit("k", 1), draw(1)), world(both(emit("k", 1), emit("l", 1), draw(1), emit("m", 1)), draw(1)), 2, "k", "k l m"},
		{"record missing", world(both(emit("k", 1), emit("l", 1)), draw(1)), world(emit("k", 1), draw(2)), 2, "k l", "k"},
		{"draw missing", world(draw(1), draw(2)), world(both(draw(3), emit("k", 1)), draw(2)), 2, "", "k"},
		{"draw too many", world(draw(3), draw(1)), world(both(draw(1)), draw(1)), 2, "", ""},
		{"choice not enabled", world(offer, draw(1)), world(nothing, draw(1)), 4, "", ""},
		{"another choice", world(nothing, emit("k", 1)), world(timer(1), both(emit("k", 1), offer)), 4, "", "k"},
		{"clock differs", world(timer(time.Second), draw(1)), world(timer(2*time.Second), draw(1)), 5, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			alone := test.rerun.kernel(Options{Strategy: NewFIFO()})
			for limit := 0; limit < 50 && alone.Step(); limit++ {
			}
			if alone.Steps() == 50 {
				t.Skip("it never ends")
			}
			p, k := then(t, test.traced.trace(t), test.rerun)
			if k.Hash() != alone.Hash() || k.Steps() != alone.Steps() || k.Elapsed() != alone.Elapsed() {
				t.Errorf("after %d steps and %v the hash is %x; alone, after %d and %v, %x", k.Steps(), k.Elapsed(), k.Hash(), alone.Steps(), alone.Elapsed(), alone.Hash())
			}
			d := p.Diverged()
			var finished *DivergedError
			if d == nil && errors.As(p.Finish(), &finished) {
				d = finished
			}
			if (d != nil) != (test.step > 0) || d != nil && d.Step != test.step {
				t.Fatalf("the difference is %v, want step %d", d, test.step)
			}
			if d != nil && (keys(d.Trace) != test.trace || keys(d.Run) != test.run) {
				t.Errorf("the trace has %q, the run %q; want %q and %q", keys(d.Trace), keys(d.Run), test.trace, test.run)
			}
			if cut, early := p.EndedEarly(); cut != nil || early {
				t.Errorf("the trace ends early: %v", cut)
			}
		})
	}
}

func keys(s *TraceStep) string {
	if s == nil {
		return ""
	}
	var all []string
	for _, r := range s.Records {
		all = append(all, r.Key)
	}
	return strings.Join(all, " ")
}

// A trace without its end is replayed as far as it goes, wherever it was cut.
func TestReplayOfACutTrace(t *testing.T) {
	w := script{name: "a", steps: [3]func(*Kernel, *Stream, ActorID){draw(2), emit("k", 1), emit("l", 2)}}
	file := w.trace(t)
	head := bytes.IndexByte(file, '\n') + 1
	rapid.Check(t, func(rt *rapid.T) {
		at := rapid.IntRange(head, len(file)).Draw(rt, "at")
		p, k := then(t, file[:at], w)
		cut, early := p.EndedEarly()
		complete := uint64(bytes.Count(file[head:at], []byte(`{"s":`)))
		switch {
		case at >= len(file)-1: // its last newline is not missed
			if early || k.Steps() != 3 {
				rt.Fatalf("the whole trace: %v after %d steps", cut, k.Steps())
			}
			return
		case k.Steps() == 3 && !early: // only the end line is missing
			var te *TraceError
			if !errors.As(p.Finish(), &te) || te.Cut == NotCut {
				rt.Fatalf("without the end line: %v", p.Finish())
			}
			cut = te
		case !early || cut == nil || p.Diverged() != nil:
			rt.Fatalf("cut at %d: early %v, %v, diverged %v", at, early, cut, p.Diverged())
		}
		if k.Steps() != complete && k.Steps()+1 != complete {
			rt.Fatalf("%d steps of %d are replayed", k.Steps(), complete)
		}
		if inLine := file[at-1] != '\n'; inLine && cut.Cut != CutInStep || cut.Cut == CutBetweenSteps && k.Steps() != complete {
			rt.Fatalf("cut at %d, %q: %v is of kind %d", at, file[max(0, at-9):at], cut, cut.Cut)
		}
	})
}

// The trace of a run that was ended from outside is replayed to where it ended; one that ended by itself goes on.
func TestReplayOfAnUnfinishedRun(t *testing.T) {
	w := script{name: "a", steps: [3]func(*Kernel, *Stream, ActorID){draw(2), emit("k", 1), emit("l", 2)}}
	for _, test := range []struct {
		verdict string
		early   bool
		steps   uint64
	}{{EndInterrupted, true, 2}, {EndTimeout, true, 2}, {"PerKeyOrder", false, 3}} {
		k := w.kernel(Options{Strategy: NewFIFO()})
		var file bytes.Buffer
		tw, err := NewTraceWriter(k, &file, Header{})
		if err != nil {
			t.Fatal(err)
		}
		k.Observe(tw)
		run(t, k, 2)
		if err := tw.Close(test.verdict, nil); err != nil {
			t.Fatal(err)
		}
		p, again := then(t, file.Bytes(), w)
		if cut, early := p.EndedEarly(); early != test.early || cut != nil || again.Steps() != test.steps {
			t.Errorf("%s: early %v, %v, %d steps", test.verdict, early, cut, again.Steps())
		}
		if d := p.Diverged(); (d == nil) != test.early || d != nil && (d.Step != 3 || d.Trace != nil || keys(d.Run) != "l" || d.Why != "the trace ends here (PerKeyOrder), but the run goes on") {
			t.Errorf("%s: diverged %v", test.verdict, d)
		}
	}
}
