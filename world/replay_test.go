package world

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/world/wire"
)

// A trace that the program does not follow any more is told in words, and its seed decides; one that it follows is the same run.
func TestReplays(t *testing.T) {
	f, _ := startServe(t, sameVersion)
	long := func() {
		f.next = script(askFor(wire.AskSettle, 0), askFor(wire.AskAdvance, time.Hour), askFor(wire.AskFail, 0, "TestBody", "as expected"))
	}
	task := newTask()
	task.Folder = t.TempDir()
	task.Options.Mix, task.ClientGo = "none", "v0.31.0"
	long()
	first := f.job(task)
	file := filepath.Join("testdata", "simtest", "TestX-1.trace.jsonl")
	if !strings.Contains(first.Failure, "-simtest.replay="+file) {
		t.Fatalf("no trace is kept: %+v", first)
	}
	task.Mode, task.File = wire.Replay, file
	long()
	if again := f.job(task); again.Failure != first.Failure || again.Hash != first.Hash || len(again.Logs) != 0 {
		t.Errorf("the replay:\n%+v\nthe run:\n%+v", again, first)
	}

	shorter := func() { f.next = script(askFor(wire.AskSettle, 0), askFor(wire.AskStopFaults, 0)) }
	shorter()
	fixed := f.job(task)
	logs := strings.Join(fixed.Logs, "\n")
	for _, want := range []string{file + " differs from this program at step 1: ", "check with -simtest.verify", "Its seed 1 is run again", "passes now: it differs at step 1, and its seed 1 breaks nothing", "-simtest.verify -simtest.seed=1"} {
		if !strings.Contains(logs, want) {
			t.Errorf("the log lacks %q:\n%s", want, logs)
		}
	}
	if fixed.Failure != "" || fixed.Passed == nil {
		t.Errorf("the result is %+v", fixed)
	}

	task.ClientGo = "v0.34.1"
	shorter()
	if logs := strings.Join(f.job(task).Logs, "\n"); !strings.Contains(logs, "made with client-go v0.31.0, and this test has v0.34.1") {
		t.Errorf("the log does not name the releases:\n%s", logs)
	}

	task.Seeded = true // by a test that is built otherwise, it cannot be followed
	shorter()
	if res := f.job(task); !strings.Contains(res.Failure, "does not fit this program") || !strings.Contains(res.Failure, "run it with go test, not informersim go test") {
		t.Errorf("the result is %+v", res)
	}
	if err := f.end(); err != nil {
		t.Error(err)
	}
}

// The trace of an interleaved run is tried a second time if the first run of the process is another one.
func TestInterleavedTraceIsTriedTwice(t *testing.T) {
	f, _ := startServe(t, sameVersion)
	long := func() func([]action) []*wire.Packet {
		return script(askFor(wire.AskSettle, 0), askFor(wire.AskAdvance, time.Hour), askFor(wire.AskFail, 0, "TestBody", "as expected"))
	}
	task := newTask()
	task.Folder, task.Seeded, task.Options.Mix = t.TempDir(), true, "none"
	for _, test := range []struct{ interleave, tries int }{{1, 2}, {-1, 1}} {
		task.Mode, task.File, task.Options.Interleave = wire.Seed, "", test.interleave
		f.next = long()
		first := f.job(task)
		task.Mode, task.File = wire.Retry, filepath.Join("testdata", "simtest", "TestX-1.trace.jsonl")
		f.interleaved = nil
		var body func([]action) []*wire.Packet
		f.next = func(do []action) []*wire.Packet {
			if has(do, wire.DoBody) != nil {
				if body = long(); len(f.interleaved) == 1 {
					body = script(askFor(wire.AskStopFaults, 0))
				}
			}
			if body == nil {
				return nothing
			}
			return body(do)
		}
		again := f.job(task)
		if again.Hash != first.Hash || (len(again.Logs) == 0) != (test.tries == 2) || len(f.interleaved) != 2 {
			t.Errorf("with the setting %d, after %d runs: %+v, of %+v", test.interleave, len(f.interleaved), again, first)
		}
	}
	if err := f.end(); err != nil {
		t.Error(err)
	}
}

// What a seed did that passed is counted apart until the faults stop and after.
func TestWhatPassedIsCounted(t *testing.T) {
	f, _ := startServe(t, sameVersion)
	create := write(wire.Write{Call: "env.Create", Method: http.MethodPost, APIVersion: "v1", Kind: "ConfigMap", Name: "a", Object: configMap("a")})
	f.next = script(askFor(wire.AskWrite, 0, create), askFor(wire.AskFaults, 0, `{"kind":"compact"}`), askFor(wire.AskAdvance, time.Minute), askFor(wire.AskStopFaults, 0), askFor(wire.AskAdvance, time.Hour))
	task := newTask()
	task.Options.Mix = "none"
	if p := f.job(task).Passed; p == nil || p.Virtual != time.Minute || p.Calm != time.Hour || len(p.Faults) != 1 || p.Faults["compact"] != 1 {
		t.Errorf("what passed is %+v", p)
	}
	if err := f.end(); err != nil {
		t.Error(err)
	}
}
