package world

import (
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/informersim/informersim/world/wire"
)

// diesOfSecondAnswer has the test's process end when the body is told for the second time that what it asked for is done.
func (f *fakeTest) diesOfSecondAnswer() {
	var next func([]action) []*wire.Packet
	answers := 0
	f.next = func(do []action) []*wire.Packet {
		if has(do, wire.DoBody) != nil {
			answers, next = 0, script(creation(f.t), askFor(wire.AskAdvance, time.Minute), askFor(wire.AskAdvance, time.Minute))
		}
		if has(do, wire.DoReply) != nil {
			answers++
		}
		if answers == 2 {
			f.out.Close()
			return nil
		}
		return next(do)
	}
}

// another is what the engine starts: a process that does what the test does, and ends in that way.
func another(t *testing.T, code int, printed string, does func(*fakeTest)) *Another {
	ourIn, theirOut := io.Pipe()
	theirIn, ourOut := io.Pipe()
	f := &fakeTest{t: t, in: theirIn, out: theirOut, another: true}
	does(f)
	go func() {
		if wire.New(wire.Hello).JSON(sameVersion).Send(theirOut) != nil {
			return // it is not needed
		}
		f.receive()
		f.serve()
	}()
	return &Another{In: ourIn, Out: ourOut, End: sync.OnceValues(func() (int, string) {
		ourOut.Close()
		ourIn.Close()
		return code, printed
	})}
}

// dies has a test whose process exits in the middle of a run with faults, and returns what the engine says, and the trace. In other processes, that ends as start says.
func dies(t *testing.T, awaited bool, start func(n int) *Another) (said string, trace []byte) {
	t.Helper()
	started := 0
	greeting := sameVersion
	greeting.Program = &wire.Program{Path: "x.test"}
	f, _ := startServeOn(t, greeting, func(h *Host) {
		h.Awaited = func(int) bool { return awaited }
		h.Again = func(_ *wire.Program, args, env []string, _ time.Duration) (*Another, error) {
			if words := strings.Join(append(args, env...), " "); words != "-test.run=^TestX$ SIMTEST_AGAIN=TestX SIMTEST_AGAIN_RUN=0" {
				t.Errorf("another process is started with %s", words)
			}
			started++
			return start(started), nil
		}
	})
	f.diesOfSecondAnswer()
	task := newTask()
	task.Folder, task.Shrink, task.Options.Mix, task.Again = t.TempDir(), time.Minute, "storm", []string{"-test.run=^TestX$"}
	f.job(task)
	said = f.last()
	return said, readFile(t, filepath.Join(task.Folder, traceOfX))
}

// A run that has ended its process is shrunk in others. What they know of its end, and the test's own engine does not, is told.
func TestOthersMakeItSimpler(t *testing.T) {
	said, trace := dies(t, true, func(int) *Another { return another(t, 3, "a line\nno luck\n", (*fakeTest).diesOfSecondAnswer) })
	contains(t, said, "the process died during a run: TestX, seed 1\n", "other processes of the test make that run simpler, for 1m0s at most", "FAIL  the process exited with status 3: no luck\n",
		"no faults injected", "shrunk from ", "-simtest.replay="+traceOfX+"\n")
	if about := conclusionIn(trace); !about.Repeats || about.Failure != "the process exited with status 3: no luck" || !endless(trace) {
		t.Errorf("the trace says %+v", about)
	}
}

// Others that end in another way, or not at all, leave the trace as it was; so does the end of a test for which nobody waits.
func TestOthersThatEndOtherwise(t *testing.T) {
	for name, test := range map[string]struct {
		start func(n int) *Another
		says  string
	}{
		"they go on": {func(int) *Another {
			return another(t, 0, "PASS", func(f *fakeTest) {
				f.next = func(do []action) []*wire.Packet { return script(creation(t))(do) }
			})
		}, "the trace stays as it is: no other process of the test has ended in that way\n"},
		"they are killed": {func(int) *Another { return another(t, -1, "", (*fakeTest).diesOfSecondAnswer) }, "the trace stays as it is: no other process"},
		"they come to no run": {func(int) *Another {
			a := another(t, 1, "no such test", (*fakeTest).diesOfSecondAnswer)
			a.In = strings.NewReader("")
			return a
		}, "another process of this test does not come to the same simtest.Run. It says:\nno such test"},
		"each in a way of its own": {func(n int) *Another { return another(t, n, "", (*fakeTest).diesOfSecondAnswer) }, "FAIL  the process exited with status 1\n"},
	} {
		said, trace := dies(t, true, test.start)
		contains(t, said, "other processes of the test make that run simpler", test.says)
		if strings.Contains(said, "shrunk from ") {
			t.Errorf("%s: it is shrunk:\n%s", name, said)
		}
		if about := conclusionIn(trace); about.Repeats != strings.Contains(said, "FAIL") {
			t.Errorf("%s: the trace says %+v", name, about)
		}
	}
	said, trace := dies(t, false, func(int) *Another { t.Error("another process is started"); return nil })
	contains(t, said, "the next run of the test makes that run simpler")
	if conclusionIn(trace).Repeats {
		t.Error("a trace that nobody has tried repeats")
	}
}

// A test that ends while its hot loop is being shrunk does not take the failure with it.
func TestEndWhileAHangIsMadeSimpler(t *testing.T) {
	greeting := sameVersion
	greeting.Program = &wire.Program{Path: "x.test"}
	var f *fakeTest
	f, _ = startServeOn(t, greeting, func(h *Host) {
		h.Again = func(*wire.Program, []string, []string, time.Duration) (*Another, error) {
			f.in.(io.Closer).Close()
			return another(t, 0, "", func(f *fakeTest) {
				f.stuckAt, f.next = 2, script(creation(t), askFor(wire.AskAdvance, time.Hour))
			}), nil
		}
	})
	f.stuckAt, f.next, f.another = 2, script(creation(t), askFor(wire.AskAdvance, time.Hour)), true
	task := newTask()
	task.Folder, task.Shrink, task.Options.Mix, task.Again = t.TempDir(), time.Minute, "none", []string{"-test.run=^TestX$"}
	done := make(chan bool)
	go func() { defer close(done); f.job(task) }()
	<-done
	f.out.Close()
	contains(t, f.last(), "the process died while a failure was being shrunk: TestX, seed 1\n", "The failure was:\n\n", "FAIL  a hot loop")
	if !endless(readFile(t, filepath.Join(task.Folder, traceOfX))) {
		t.Error("the trace is lost")
	}
}
