package mutation

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const (
	saidNothing = "=== RUN   TestJob\n    job_test.go:43: simtest: 20 seeds, 855 faults (list-slow 111), 21m of virtual time, nothing found\n--- PASS: TestJob (2.00s)\nPASS\n"
	saidBroken  = "=== RUN   TestJob\n    job_test.go:43: simtest: before this failure: 2 seeds\n    job_test.go:43: TestJob, seed 3, mix storm\n" +
		"        FAIL  NoForgottenChange at step 812 (1h2m)\n        \n          job writes default/a too late\n          because step 1 (0s): a\n        \n" +
		"          see it again\n            go test example -run '^TestJob$' -simtest.replay=x-3.trace.jsonl\n            go test example -run '^TestJob$' -simtest.seed=3\n--- FAIL: TestJob (2.00s)\nFAIL\n"
	saidInvariant = "        FAIL  Jobs complete at step 8 (1h2m)\n\n          still not true after 1h0m0s: a is not\n            go test example -run '^TestJob$' -simtest.seed=2\n--- FAIL: TestJob (2.00s)\nFAIL\n"
	saidBody      = "        FAIL  TestBody at step 8 (1m)\n\n          it went wrong\n            go test example -simtest.seed=4\n--- FAIL: TestJob (2.00s)\n"
	saidChanged   = "panic: cache *v1.Job modified\n\ngoroutine 12 [running]:\n\nsimtest: the process died during a run: TestJob, seed 7\n  an object …\n\n  see it again\n    go test x -simtest.seed=7\n"
	saidPanic     = "panic: oh no\n\ngoroutine 12 [running]:\n\nsimtest: the process died during a run: TestJob, seed 5\n"
	saidFailure   = "        FAIL  the body failed the test\n            go test example -simtest.seed=6\n--- FAIL: TestJob (2.00s)\n"
)

func TestOutcomeOf(t *testing.T) {
	for _, c := range []struct {
		what, text string
		failed     bool
		seed       uint64
		property   string
		message    string
		ready      bool
		problem    string
	}{
		{what: "nothing", text: saidNothing},
		{what: "a property", text: saidBroken, failed: true, seed: 3, property: "NoForgottenChange", message: "job writes default/a too late", ready: true},
		{what: "an invariant", text: saidInvariant, failed: true, seed: 2, property: "Jobs complete", message: "still not true after 1h0m0s: a is not"},
		{what: "the body", text: saidBody, failed: true, seed: 4, property: "TestBody", message: "it went wrong"},
		{what: "t.Fatal", text: saidFailure, failed: true, seed: 6, property: "the body failed the test", message: "go test example -simtest.seed=6"},
		{what: "a changed cache", text: saidChanged, failed: true, seed: 7, property: detected, message: "panic: cache *v1.Job modified", ready: true},
		{what: "a panic", text: saidPanic, failed: true, seed: 5, property: ended, message: "panic: oh no", ready: true},
		{what: "no test of that name", text: "testing: warning: no tests to run\nPASS\n", problem: "no verdict"},
		{what: "a skipped test", text: "--- SKIP: TestJob (0.00s)\nPASS\n", problem: "no verdict"},
		{what: "another failure", text: "simtest: the engine does not start\n--- FAIL: TestJob (0.00s)\n", failed: true, problem: "the engine does not start"},
		{what: "no seed", text: "FAIL  NoPanic at step 1 (0s)\n", failed: true, problem: "which seed"},
	} {
		found, problem := outcomeOf(c.text, "TestJob", c.failed)
		if found == nil {
			found = &Broken{}
		}
		if found.Seed != c.seed || found.Property != c.property || found.Message != c.message || (problem == "") != (c.problem == "") || !strings.Contains(problem, c.problem) {
			t.Errorf("%s: %+v, %q; want seed %d, %q, %q, %q", c.what, found, problem, c.seed, c.property, c.message, c.problem)
		}
		if found.ready() != c.ready {
			t.Errorf("%s needs no invariant: %v, want %v", c.what, found.ready(), c.ready)
		}
	}
}

// say is a shell script that prints a text and fails if that tells of a failure.
func say(text string) string {
	script := "cat <<'end'\n" + text + "end\n"
	if strings.Contains(text, "FAIL") || strings.Contains(text, "died") {
		script += "exit 1\n"
	}
	return script
}

func TestTry(t *testing.T) {
	const ifMutant, ifIgnored, otherwise, end = "if [ $INFORMERSIM_MUTANT = 17 ]; then\n", "if [ \"$INFORMERSIM_INVARIANTS\" = ignored ]; then\n", "exit 0; else\n", "fi\n"
	for _, c := range []struct {
		what, script string
		alone, with  string
		problem      string
	}{
		{"a property finds it", ifMutant + say(saidBroken) + end + say(saidNothing), "NoForgottenChange", "", ""},
		{"an invariant finds it", ifMutant + ifIgnored + say(saidNothing) + otherwise + say(saidInvariant) + end + end + say(saidNothing), "", "Jobs complete", ""},
		{"nothing finds it", say(saidNothing), "", "", ""},
		{"it spins", ifMutant + say(strings.Replace(saidBroken, "NoForgottenChange at step 812 (1h2m)", "a hot loop: it never waits", 1)) + end + say(saidNothing), spins, "", ""},
		{"the detector finds it", ifMutant + say(saidChanged) + end + say(saidNothing), detected, "", ""},
		{"a later seed finds it, behind a body that fails", ifMutant + "case $* in *seed=5*)\n" + say(strings.ReplaceAll(saidBroken, "seed=3", "seed=5")) +
			";; *seeds=20*)\n" + say(saidBody) + ";; esac\n" + end + say(saidNothing), "NoForgottenChange", "", ""},
		{"it breaks without the mutant, too", "case $* in *seed=[4-9]*|*seed=[12]?*)\n" + say(saidNothing) + ";; *)\n" + say(saidBroken) + ";; esac\n", "", "", ""},
		{"a later seed breaks with the mutant only", "case $* in *seed=4*)\n" + ifMutant + say(strings.ReplaceAll(saidBroken, "seed=3", "seed=4")) + end + say(saidNothing) + ";; *)\n" + say(saidBroken) + ";; esac\n", "NoForgottenChange", "", ""},
		{"no verdict", "echo out of space; exit 2", "", "", "out of space"},
		{"no verdict without the mutant", ifMutant + say(saidBroken) + end + "exit 2", "NoForgottenChange", "", "without the mutant, TestJob has no verdict"},
		{"the flags", "echo \"$*\"; echo $INFORMERSIM; pwd; exit 2", "", "", "-test.run ^TestJob$ -test.v -test.timeout=0 -simtest.shrink=-1s -simtest.seeds=20\nengine\n"},
	} {
		dir := filepath.Join(t.TempDir(), "runs")
		changed := program(t, c.script)
		x := &controllerTest{program: changed, unchanged: Program{File: changed.File}, name: "TestJob", engine: "engine", dir: dir}
		r := &Tried{}
		if err := x.try(t.Context(), r, Trial{Seeds: 20, Timeout: time.Minute}); err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		alone, with := "", ""
		if r.Alone != nil {
			alone = r.Alone.Property
		}
		if r.With != nil {
			with = r.With.Property
		}
		if alone != c.alone || with != c.with || (r.Error == "") != (c.problem == "") || !strings.Contains(r.Error, c.problem) {
			t.Errorf("%s: alone %q, with invariants %q, %q; want %q, %q, %q", c.what, alone, with, r.Error, c.alone, c.with, c.problem)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: what the runs have written is left", c.what)
		}
	}
	slow := program(t, "exec sleep 60")
	x := &controllerTest{program: slow, unchanged: slow, name: "TestJob", dir: t.TempDir()}
	if _, problem, err := x.search(t.Context(), true, Trial{Seeds: 1, Timeout: 10 * time.Millisecond}); err != nil || problem != "TestJob did not end within 10ms" {
		t.Errorf("a test that hangs: %q, %v", problem, err)
	}
}

func TestControllersPage(t *testing.T) {
	all := []*Mutant{{Name: "a"}, {Name: "b", Survives: "it is quiet"}, {Name: "c", Survives: "it is quiet"}, {Name: "d"}, {Name: "n", Defect: "new", Test: "TestN", Survives: "not tried yet"}}
	results := []*Tried{
		{Mutant: "a", Defect: "a | b", Test: "TestA", Breaks: []string{"NoOrphan"}, Alone: &Broken{Seed: 3, Property: "NoOrphan"}},
		{Mutant: "b", Test: "TestB", Survives: "it is quiet", With: &Broken{Seed: 7, Property: "it works", Message: "no"}},
		{Mutant: "c", Test: "TestB", Survives: "it is quiet"},
		{Mutant: "d", Test: "TestA", Breaks: []string{"NoOrphan"}, Alone: &Broken{Seed: 12, Property: "NoWriteWar", Message: "war"}},
	}
	const old = "# Wild\n\n" + controllersBegin + "\nold\n" + controllersEnd + "\n\nThe end.\n"
	trial := Trial{Seeds: 20}
	page, err := UpdateControllersPage(old, trial, all, results)
	if err != nil {
		t.Fatal(err)
	}
	want := "# Wild\n\n" + controllersBegin + "\nUp to 20 seeds each, or as many as its file asks for: 2 of 4 mutants found without an invariant of the test, 1 by one, 1 not at all; not tried: 1.\n\n" +
		"* No ready-made property finds `b`, `c`: it is quiet\n\n" + controllersHead +
		"| `a` | a \\| b | `TestA` | NoOrphan | 3 |\n| `b` |  | `TestB` | the test's invariant | 7 |\n| `c` |  | `TestB` | nothing |  |\n| `d` |  | `TestA` | NoWriteWar | 12 |\n| `n` | new | `TestN` | not tried yet |  |\n" + controllersEnd + "\n\nThe end.\n"
	if page != want {
		t.Errorf("the page is\n%s\nwant\n%s", page, want)
	}
	if same, err := UpdateControllersPage(page, trial, all, results[1:3]); err != nil || same != page {
		t.Errorf("the same results give another page, %v:\n%s", err, same)
	}
	for what, c := range map[string]struct { // the order is that of no requirement
		page  string
		trial Trial
		all   []*Mutant
		want  string
	}{
		"a page without the marks": {"# Wild\n", trial, all, "no lines"},
		"another search":           {page, Trial{Seeds: 7}, all, "another number of seeds than 7"},
		"a new mutant":             {page, trial, append(all, &Mutant{Name: "e"}), "no row for e"},
	} {
		if _, err := UpdateControllersPage(c.page, c.trial, c.all, results[:1]); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", what, err, c.want)
		}
	}
	if text, failed := SummarizeTried(results); failed != 0 || !strings.HasPrefix(text, "2 of 4 mutants found") {
		t.Errorf("%d failed, %s", failed, text)
	}
	var out bytes.Buffer
	for _, r := range append(results, &Tried{Mutant: "e", Error: "it is stale"}, &Tried{Mutant: "f", Survives: "it is quiet", Alone: &Broken{Seed: 1, Property: "NoOrphan"}}, &Tried{Mutant: "g", Breaks: []string{"NoOrphan"}}) {
		if err := r.WriteText(&out); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"its file expects NoOrphan; war", "it works: no", "NOT TRIED", "it is stale", `good news: write "breaks: NoOrphan"`, "nothing but an invariant finds it, and its file expects NoOrphan"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
}

func TestTriedFails(t *testing.T) {
	found := &Broken{Property: "NoOrphan"}
	for _, c := range []struct {
		what string
		r    Tried
		want bool
	}{
		{"found", Tried{Alone: found}, false},
		{"not found", Tried{}, true},
		{"found by an invariant only", Tried{With: found}, true},
		{"not found, as known", Tried{Survives: "why"}, false},
		{"found by an invariant only, as known", Tried{Survives: "why", With: found}, false},
		{"found, although its file says otherwise", Tried{Survives: "why", Alone: found}, true},
		{"not tried", Tried{Alone: found, Error: "it is stale"}, true},
	} {
		if c.r.Failed() != c.want {
			t.Errorf("%s: failed %v, want %v", c.what, !c.want, c.want)
		}
	}
}

// Every mutant of a controller fits the source as this module has it, changes the inside of functions only, so that all are built into one program, and names a test
// and properties that there are. That they compile is seen when they are run: the tests of wild/kubernetes take minutes to compile.
func TestMutantsOfControllersFit(t *testing.T) {
	root, err := Root(".")
	if err != nil {
		t.Fatal(err)
	}
	tree := &Tree{root: root, target: controllers}
	own, err := os.ReadFile(filepath.Join(root, "wild", "kubernetes", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range controllers.changed {
		out, err := exec.Command("go", "list", "-m", "-json", module).Output()
		var m struct{ Dir, Version string }
		if err == nil {
			err = json.Unmarshal(out, &m)
		}
		if err != nil || m.Dir == "" {
			t.Fatalf("%s: %+v, %v", module, m, err)
		}
		if !regexp.MustCompile(regexp.QuoteMeta(module+" "+m.Version) + `\b`).Match(own) {
			t.Skipf("wild/kubernetes has another release of %s than %s, which is not downloaded for this: informersim mutants --controllers says whether its mutants fit", module, m.Version)
		}
		tree.copies = append(tree.copies, &copied{module: module, source: m.Dir, dir: m.Dir})
	}
	mutants, err := Load(os.DirFS(tree.Mutants()))
	if err != nil {
		t.Fatal(err)
	}
	if len(mutants) < 40 {
		t.Errorf("there are %d mutants only", len(mutants))
	}
	if err := tree.CheckProperties(mutants); err != nil {
		t.Error(err)
	}
	s := &schema{files: map[string]*schemaFile{}}
	tests := testsOf(t, filepath.Join(root, "wild", "kubernetes"))
	for n, m := range append(mutants, judge) {
		before, after, err := tree.texts(m)
		switch {
		case err != nil:
			t.Error(err)
		case m == judge:
		case !s.add(n+1, before, after):
			t.Errorf("%s changes more than the inside of functions, or is no Go", m.Name)
		case !strings.Contains(tests, "func "+m.Test+"(t *testing.T) {"):
			t.Errorf("%s: wild/kubernetes has no test %q", m.Name, m.Test)
		}
	}
}

// testsOf returns the tests of a folder, all in one text.
func testsOf(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
