package world

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/world/wire"
)

// boxed is a greeting with a black box, whose log has a line.
func boxed(t *testing.T) wire.Greeting {
	t.Helper()
	g := sameVersion
	g.Trace, g.Log = filepath.Join(t.TempDir(), "trace"), filepath.Join(t.TempDir(), "log")
	log := append([]byte(wire.LogLine{Step: 7, At: time.Second, Text: "W x.go:1] last words"}.String()+"\n"), make([]byte, 100)...)
	for name, data := range map[string][]byte{g.Trace: nil, g.Log: log} { // order: two files
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// diesAt has the test's process end when it is told to do something for the nth time.
func (f *fakeTest) diesAt(n int, asks ...*wire.Packet) {
	next := script(asks...)
	f.next = func(do []action) []*wire.Packet {
		if f.dos == n {
			f.out.Close()
			return nil
		}
		return next(do)
	}
}

// served waits for the end of an engine whose test has ended, and returns what it says.
func (f *fakeTest) last() string {
	f.t.Helper()
	if err := <-f.served; err != nil {
		f.t.Errorf("Serve: %v", err)
	}
	return f.stderr.String()
}

func contains(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("it lacks %q:\n%s", w, text)
		}
	}
}

func creation(t *testing.T) *wire.Packet {
	return askFor(wire.AskWrite, 0, write(wire.Write{Call: "env.Create", Method: "POST", APIVersion: "v1", Kind: "ConfigMap", Name: "a", Object: configMap("a")}))
}

const traceOfX = "testdata/simtest/TestX-1.trace.jsonl"

// Whatever ends a test during a run, the engine says which run it was, how far it got, what it logged last, where its trace is, and how to see
// it again. The trace has the complete steps, and no end.
func TestADyingTestNamesItsRun(t *testing.T) {
	f, _ := startServe(t, boxed(t))
	f.diesAt(4, creation(t), askFor(wire.AskSettle, 0), askFor(wire.AskAdvance, time.Hour))
	task := newTask()
	task.Folder, task.Options.Mix = t.TempDir(), "none"
	f.job(task)
	said, file := f.last(), filepath.Join(task.Folder, traceOfX)
	contains(t, said, "simtest: the process died during a run: TestX, seed 1\n  it had taken ", " (0s of virtual time)\n", " had begun: time passes\n",
		"  the trace so far is in "+file+"\n", "the end of its log is in "+logFile(file)+"\n", "what it logged last\n    step 7            1s  W x.go:1] last words\n",
		"see it again\n    go test example.com/x -run '^TestX$' -simtest.replay="+traceOfX+"\n    go test example.com/x -run '^TestX$' -simtest.seed=1\n")
	trace := string(readFile(t, file))
	contains(t, trace, `"key":"configmaps default/a"`)
	if !endless([]byte(trace)) || !strings.Contains(trace, `{"end":"died",`) || !strings.Contains(trace, `"begun":"time passes"`) {
		t.Errorf("the trace has another end:\n%s", trace)
	}
	contains(t, string(readFile(t, pageFile(file))), `<span class="word">DIED</span>`, "The process under test died after step ", "which is not in the trace: time passes",
		"-simtest.replay="+traceOfX)
	m := regexp.MustCompile(`taken (\d+) steps`).FindStringSubmatch(said)
	if steps := strings.Count(trace, `{"s":`); m == nil || steps < 2 || m[1] != strconv.Itoa(steps) {
		t.Errorf("the trace has %d steps: %s", steps, said)
	}
	if log := string(readFile(t, logFile(file))); log != "step 7            1s  W x.go:1] last words\n" {
		t.Errorf("the log is %q", log)
	}

	// The next test of that name begins with that seed; a death is now that of a replay.
	f, _ = startServe(t, sameVersion)
	f.diesAt(2, creation(t), askFor(wire.AskSettle, 0))
	task.Mode, task.File = wire.Retry, traceOfX
	f.job(task)
	said = f.last()
	contains(t, said, traceOfX+" is the trace of a run during which its process died or hung, or its end is missing: running its seed again\n",
		"the process died during a run: TestX, seed 1, replaying "+traceOfX+"\n", "the trace so far is in "+file+"\n")
	if again := readFile(t, file); len(again) >= len(trace) {
		t.Errorf("the trace of the later death is not in the file: %s", again)
	}

	// And if nothing ends it any more, it passes.
	f, _ = startServe(t, sameVersion)
	f.next = script(creation(t), askFor(wire.AskSettle, 0))
	if res := f.job(task); res.Failure != "" || len(res.Logs) != 2 || !strings.Contains(res.Logs[1], "passes now") {
		t.Errorf("the result is %+v", res)
	}
	if err := f.end(); err != nil {
		t.Error(err)
	}
}

// A trace that cannot be where the next run looks for it is in a temporary file. It is not said that it could be replayed from where it is not.
func TestATraceThatCannotBeWhereItBelongs(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "testdata"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	temporary := func(said, before string) string {
		t.Helper()
		m := regexp.MustCompile(before + ` (\S+informersim-test-\S+\.trace\.jsonl)`).FindStringSubmatch(said)
		if m == nil {
			t.Fatalf("no temporary file is named:\n%s", said)
		}
		t.Cleanup(func() {
			for _, name := range []string{m[1], pageFile(m[1]), logFile(m[1])} {
				os.Remove(name)
			}
		})
		if data := string(readFile(t, m[1])); !strings.Contains(data, `"key":"configmaps default/a"`) {
			t.Errorf("it is not the trace: %s", data)
		}
		return m[1]
	}
	task := newTask()
	task.Folder, task.Options.Mix = folder, "none"
	f, _ := startServe(t, boxed(t))
	f.diesAt(4, creation(t), askFor(wire.AskSettle, 0), askFor(wire.AskAdvance, time.Hour))
	f.job(task)
	said := f.last()
	temporary(said, "the trace so far is in")
	contains(t, said, "\n  it is not where the next test would find it: mkdir ", "-simtest.seed=1")
	if strings.Contains(said, "simtest.replay") {
		t.Errorf("it cannot be replayed from there:\n%s", said)
	}

	f, _ = startServe(t, sameVersion)
	var body func([]action) []*wire.Packet
	f.next = func(do []action) []*wire.Packet {
		if has(do, wire.DoBody) != nil {
			body = script(creation(t), askFor(wire.AskFail, 0, "it holds", "it does not"))
		}
		return body(do)
	}
	task.Shrink = time.Minute // the failure is kept before and after
	res := f.job(task)
	file := temporary(strings.Join(res.Logs, "\n"), "the trace is in a temporary file,")
	if n := strings.Count(strings.Join(res.Logs, "\n"), "temporary file"); n != 1 {
		t.Errorf("%d temporary files are named: %q", n, res.Logs)
	}
	contains(t, res.Failure, "FAIL  it holds", "-simtest.replay="+file+"\n", "-simtest.seed=1")
	if res.File != "" || res.Unkept == "" {
		t.Errorf("it is said to be kept: %+v", res)
	}
}

// The step that had begun is told with what it had done.
func TestWhatHadBegunIsTold(t *testing.T) {
	f, _ := startServe(t, sameVersion)
	f.diesAt(2, askFor(wire.AskStart, 0, "controller"), askFor(wire.AskSettle, 0))
	task := newTask()
	task.Options.Mix = "none"
	f.job(task)
	said := f.last()
	contains(t, said, "  it had taken 0 steps (0s of virtual time)\n  step 1 had begun: process/controller: process started\n")
	m := regexp.MustCompile(`the trace so far is in (\S+)\n`).FindStringSubmatch(said) // there is no folder for it
	if m == nil {
		t.Fatal(said)
	}
	readFile(t, m[1])
	if err := os.Remove(m[1]); err != nil {
		t.Error(err)
	}
	if strings.Contains(said, "simtest.replay") {
		t.Errorf("a trace that is nowhere to stay can be replayed:\n%s", said)
	}
}

// A test that dies while its failure is being shrunk does not take the failure with it.
func TestDeathDuringShrinking(t *testing.T) {
	f, _ := startServe(t, sameVersion)
	runs := 0
	var next func([]action) []*wire.Packet
	f.next = func(do []action) []*wire.Packet {
		if has(do, wire.DoBody) != nil {
			runs++
			next = script(creation(t), askFor(wire.AskAdvance, time.Minute), askFor(wire.AskFail, 0, "it holds", "it does not"))
		}
		if runs == 2 {
			f.out.Close()
			return nil
		}
		return next(do)
	}
	task := newTask()
	task.Folder, task.Shrink, task.Options.Mix = t.TempDir(), time.Hour, "storm"
	f.job(task)
	said := f.last()
	contains(t, said, "simtest: the process died while a failure was being shrunk: TestX, seed 1\n", "\nThe failure was:\n\n", "FAIL  it holds at step ",
		"-simtest.replay="+traceOfX+"\n")
	if endless(readFile(t, filepath.Join(task.Folder, traceOfX))) {
		t.Error("the trace of the failure is lost")
	}
}

// A goroutine that never rests ends the run where it is: the trace so far is kept, and counted.
func TestABubbleThatNeverRests(t *testing.T) {
	f, _ := startServe(t, sameVersion)
	next := script(creation(t), askFor(wire.AskAdvance, time.Hour))
	f.next = func(do []action) []*wire.Packet { return next(do) }
	f.stuckAt = 4
	task := newTask()
	task.Folder, task.Options.Mix = t.TempDir(), "none"
	res := f.job(task)
	contains(t, res.Failure, "FAIL  a hot loop", "\n\nThat was after ", " had begun: time passes", "1 write, 1 request", "what it logged\n    step 3            1s  I x.go:1] spinning",
		"-simtest.replay="+traceOfX, "commits ADDED of configmaps default/a")
	if res.Steps == 0 || !endless(readFile(t, filepath.Join(task.Folder, traceOfX))) {
		t.Errorf("the trace of %d steps has an end", res.Steps)
	}
	contains(t, string(readFile(t, filepath.Join(task.Folder, traceOfX))), `{"end":"stuck",`, `"failure":"a hot loop`)
	contains(t, string(readFile(t, filepath.Join(task.Folder, pageFile(traceOfX)))), `<span class="word">STUCK</span>`, "a hot loop")
	contains(t, string(readFile(t, filepath.Join(task.Folder, logFile(traceOfX)))), "spinning")
	// After the run's end it does not undo what the run was.
	next = script(creation(t))
	f.dos, f.stuckAt, f.stuckAfter = 0, 0, true
	if res := f.job(task); !strings.Contains(res.Failure, "the run has ended, and its context is canceled, but a goroutine goes on: a hot loop") {
		t.Errorf("the result is %+v", res)
	}
	if endless(readFile(t, filepath.Join(task.Folder, traceOfX))) {
		t.Error("the trace has no end")
	}
	// Then no other bubble can be made, and there is nothing to keep.
	if err := os.RemoveAll(filepath.Join(task.Folder, "testdata")); err != nil {
		t.Fatal(err)
	}
	f.refuse = true
	if res := f.job(task); !strings.Contains(res.Failure, "no other run can be made") {
		t.Errorf("the result is %+v", res)
	}
	if _, err := os.Stat(filepath.Join(task.Folder, traceOfX)); !os.IsNotExist(err) {
		t.Errorf("the trace of no run: %v", err)
	}
	if err := f.end(); err != nil {
		t.Error(err)
	}
}

// The trace grows in the test's file, so that it outlives the engine.
func TestTraceOutlivesTheEngine(t *testing.T) {
	g := boxed(t)
	f, _ := startServe(t, g)
	var seen []int
	next := script(creation(t), askFor(wire.AskSettle, 0), askFor(wire.AskAdvance, time.Hour))
	f.next = func(do []action) []*wire.Packet {
		seen = append(seen, strings.Count(string(readFile(t, g.Trace)), `{"s":`))
		return next(do)
	}
	task := newTask()
	task.Options.Mix = "none"
	for range 2 { // each run begins anew
		seen = nil
		next = script(creation(t), askFor(wire.AskSettle, 0), askFor(wire.AskAdvance, time.Hour))
		if res := f.job(task); res.Failure != "" {
			t.Fatal(res.Failure)
		}
		if n := len(seen); n < 4 || seen[0] != 0 || seen[n-1] < 5 {
			t.Errorf("at each trip the file has so many steps: %v", seen)
		}
	}
	if err := f.end(); err != nil {
		t.Error(err)
	}
}

// What a run logged is shown with its failure, and kept beside its trace.
func TestLogOfAFailure(t *testing.T) {
	l := &log{lost: 3}
	for n := range 20 {
		l.lines = append(l.lines, wire.LogLine{Step: uint64(n + 1), At: time.Minute, Text: "I x.go:1] line"})
	}
	if s := l.section("a.trace.jsonl"); s.Title != "what it logged (the last 12 of 23 lines in a.log)" || len(s.Lines) != 12 || s.Lines[11] != "step 20         1m0s  I x.go:1] line" {
		t.Errorf("the section is %+v", s)
	}
	if s := l.section(""); s.Title != "what it logged (the last 12 of 23 lines)" {
		t.Errorf("the title without a file is %q", s.Title)
	}
	if text := l.text(); !strings.HasPrefix(text, "(3 older lines are not kept)\nstep 1 ") || strings.Count(text, "\n") != 21 {
		t.Errorf("the log is %q", text)
	}
	if s := (*log)(nil).section("a"); s != nil || (*log)(nil).text() != "" {
		t.Errorf("no log has %+v", s)
	}
	if s := shortened(strings.Repeat("x\n", 20)); s != strings.Repeat("x\n", maxLogLines)+"…" {
		t.Errorf("a long stack becomes %q", s)
	}
	if s := shortened(strings.Repeat("é", maxLogText)); len(s) > maxLogText+3 || !strings.HasSuffix(s, "é…") {
		t.Errorf("a long line becomes %q", s)
	}
}

// A process that dies when its run is over takes nothing with it: the failure that the run has found is told, and the trace of a run that has found none says that it died.
func TestDeathAtTheEndOfARun(t *testing.T) {
	for _, fails := range []bool{true, false} {
		f, _ := startServe(t, sameVersion)
		last := askFor(wire.AskSettle, 0)
		if fails {
			last = askFor(wire.AskFail, 0, "it holds", "it does not")
		}
		f.next, f.diesAfter = script(creation(t), askFor(wire.AskAdvance, time.Minute), last), true
		task := newTask()
		task.Folder, task.Options.Mix = t.TempDir(), "none"
		f.job(task)
		said := f.last()
		contains(t, said, "simtest: the process died during a run: TestX, seed 1\n")
		if strings.Contains(said, "The run had failed:\n\n") != fails || strings.Contains(said, "FAIL  it holds at step ") != fails {
			t.Errorf("fails: %v:\n%s", fails, said)
		}
		if trace := readFile(t, filepath.Join(task.Folder, traceOfX)); endless(trace) == fails {
			t.Errorf("fails: %v; the trace ends: %v", fails, !endless(trace))
		}
	}
}
