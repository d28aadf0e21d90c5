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
	task.Options.Mix = "none"
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

	task.Seeded = true // by a test that is built otherwise, it cannot be followed
	shorter()
	if res := f.job(task); !strings.Contains(res.Failure, "does not fit this program") || !strings.Contains(res.Failure, "build it without -overlay") {
		t.Errorf("the result is %+v", res)
	}
	if err := f.end(); err != nil {
		t.Error(err)
	}
}

// What a seed did that passed is counted apart until the faults stop and after.
func TestWhatPassedIsCounted(t *testing.T) {
	f, _ := startServe(t, sameVersion)
	create := write(t, wire.Write{Call: "env.Create", Method: http.MethodPost, APIVersion: "v1", Kind: "ConfigMap", Name: "a", Object: configMap("a")})
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
