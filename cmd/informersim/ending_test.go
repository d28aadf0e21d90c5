package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/properties/mutants"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/stack"
)

// withMoods adds a subject, "moody", that has the defect in the runs whose number, from 1, bad says; afterwards it is correct.
func withMoods(t *testing.T, bad func(run int) bool) {
	t.Helper()
	runs := 0
	withSubject(t, subjects.Kind{Name: "moody", Engine: stack.Kind.Engine, New: func(deps subjects.Dependencies) subjects.Subject {
		if runs++; bad(runs) {
			return mutants.All()[0].Kind.New(deps)
		}
		return stack.Kind.New(deps)
	}})
}

// verdicts returns the traces in the current folder with the verdict of each.
func verdicts(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("*" + traceSuffix)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	var all []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`\{"end":"(\w+)"`).FindSubmatch(text)
		if m == nil {
			t.Fatalf("%s has no verdict", f)
		}
		all = append(all, f+" "+string(m[1]))
	}
	return strings.Join(all, ", ")
}

// A finding that does not repeat is a finding. The trace is kept of a run that has it, if one comes, and of one that has not.
func TestFindingThatDoesNotRepeat(t *testing.T) {
	const finding, other = "builtin-moody-seed1.trace.jsonl ReplaceDeletesMissing", "builtin-moody-seed1.differs.trace.jsonl pass"
	for _, tt := range []struct {
		name string
		bad  func(run int) bool
		note string // "" for none
		kept string
	}{
		{"at once", func(int) bool { return true }, "", finding},
		{"later", func(n int) bool { return n != 2 && n != 3 }, "did not repeat in 2 runs, and then it did", other + ", " + finding},
		{"never", func(n int) bool { return n == 1 }, "the finding stands, but seed 1 did not repeat in 5 runs. None of them had this finding.", other},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inTemp(t, nil)
			withMoods(t, tt.bad)
			got := command(t, "run", "--subject", "moody")
			if got.code != exitBroken || !strings.Contains(got.stdout, "FAIL  ReplaceDeletesMissing") {
				t.Errorf("exit code %d: %s\n%s", got.code, got.stderr, got.stdout)
			}
			if strings.Contains(got.stdout, "not deterministic") != (tt.note != "") || !strings.Contains(got.stdout, tt.note) {
				t.Errorf("it does not say %q:\n%s", tt.note, got.stdout)
			}
			if kept := verdicts(t); kept != tt.kept {
				t.Errorf("these traces are kept: %s, want %s", kept, tt.kept)
			}
			if strings.Contains(got.stdout, "informersim replay") != strings.Contains(tt.kept, finding) {
				t.Errorf("the replay line:\n%s", got.stdout)
			}
		})
	}
}

// Another way to the same finding is kept as its trace.
func TestFindingByAnotherWay(t *testing.T) {
	inTemp(t, nil)
	n := int64(0)
	withSubject(t, subjects.Kind{Name: "moody", Engine: stack.Kind.Engine, New: func(deps subjects.Dependencies) subjects.Subject {
		n++
		limit := 1000 + n
		return stack.With(stack.Parts{ListOptions: func(o *metav1.ListOptions) {
			if o.Limit = limit; o.ResourceVersion != "0" {
				panic("a relist")
			}
		}}).New(deps)
	}})
	got := command(t, "run", "--subject", "moody")
	if got.code != exitBroken || !strings.Contains(got.stdout, "FAIL  NoPanic") || !strings.Contains(got.stdout, "Another way to the same end") {
		t.Errorf("exit code %d: %s\n%s", got.code, got.stderr, got.stdout)
	}
	if kept := verdicts(t); kept != "builtin-moody-seed1.trace.jsonl NoPanic" {
		t.Errorf("these traces are kept: %s", kept)
	}
}

// The same in a range of seeds, as text and as JSON.
func TestFindingInARangeDoesNotRepeat(t *testing.T) {
	for _, flag := range []string{"--json=false", "--json"} {
		t.Run(flag, func(t *testing.T) { findingInARange(t, flag) })
	}
}

func findingInARange(t *testing.T, flag string) {
	inTemp(t, nil)
	var ran sync.Map // by seed
	withSubject(t, subjects.Kind{Name: "moody", Engine: stack.Kind.Engine, New: func(deps subjects.Dependencies) subjects.Subject {
		if _, again := ran.LoadOrStore(deps.Kernel.Seed(), true); again {
			return stack.Kind.New(deps)
		}
		return stack.With(stack.Parts{ListOptions: func(*metav1.ListOptions) { panic("a list") }}).New(deps)
	}})
	got := command(t, "run", "--subject", "moody", "--seed", "1..2", flag)
	if got.code != exitBroken || !strings.Contains(got.stdout, "NoPanic") || !strings.Contains(got.stdout+got.stderr, "None of them had this finding") {
		t.Errorf("%s: exit code %d: %s\n%s", flag, got.code, got.stderr, got.stdout)
	}
	if kept := verdicts(t); kept != "builtin-moody-random-seed1.differs.trace.jsonl pass" {
		t.Errorf("%s: these traces are kept: %s", flag, kept)
	}
}

// A verdict is not lost because a trace cannot be written.
func TestFindingWhoseTraceIsLost(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no full device here")
	}
	inTemp(t, nil)
	withMoods(t, func(int) bool { return true })
	if err := os.Mkdir("builtin-moody-seed1"+traceSuffix, 0o777); err != nil { // in the place of the trace
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", "--subject", "moody"}, {"run", "--subject", "moody", "--trace", "/dev/full"}} {
		got := command(t, args...)
		if got.code != exitBroken || !strings.Contains(got.stdout, "FAIL  ReplaceDeletesMissing") || !strings.Contains(got.stderr, "warning: no trace is kept") {
			t.Errorf("%v: exit code %d: %s\n%s", args, got.code, got.stderr, got.stdout)
		}
	}
	if got := command(t, "run", "--trace", "/dev/full"); got.code != exitBadInput || !strings.Contains(got.stderr, "no space left") {
		t.Errorf("a run that passes: exit code %d: %s", got.code, got.stderr)
	}
}

// --rewrite does not make a finding the expected output.
func TestRewriteOfAFinding(t *testing.T) {
	inTemp(t, map[string]string{"small.sim": small + "\nadvance 1s\n"})
	withSubject(t, named("panics", stack.With(stack.Parts{ListOptions: func(*metav1.ListOptions) { panic("a list") }})))
	got := command(t, "run", "small.sim", "--rewrite", "--subject", "panics")
	if got.code != exitBroken || !strings.Contains(got.stdout, "FAIL  NoPanic at step ") {
		t.Errorf("exit code %d: %s\n%s", got.code, got.stderr, got.stdout)
	}
	if text, err := os.ReadFile("small.sim"); err != nil || string(text) != small+"\nadvance 1s\n" {
		t.Errorf("the file is now (%v)\n%s", err, text)
	}
}

// crashing panics on a goroutine where nobody can recover it.
var crashing = subjects.Kind{
	Name: "crashing", Engine: stack.Kind.Engine, Host: func(_ uint64, run func()) error { run(); return nil },
	New: func(subjects.Dependencies) subjects.Subject {
		go panic("on a goroutine")
		select {}
	},
}

// A stack that ends the process of a range's runs is a finding of the seed.
func TestCrashInARange(t *testing.T) {
	inTemp(t, nil)
	t.Setenv(asCommand, "crash")
	withSubject(t, crashing)
	before := runtime.GOMAXPROCS(2) // with one processor there are no other processes
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	got := command(t, "run", "--subject", "crashing", "--seed", "5..9", "--fault-mix", "storm")
	for _, want := range []string{"FAIL  NoPanic", "panic: on a goroutine", "informersim run --seed 5 --strategy random --fault-mix storm --subject crashing"} {
		if got.code != exitBroken || !strings.Contains(got.stdout, want) {
			t.Errorf("exit code %d, %q is missing: %s\n%s", got.code, want, got.stderr, got.stdout)
		}
	}
}

// So is one that ends the process of a single run, whose exit code would be that of bad input. What its flags ask for is there.
func TestCrashOfASingleRun(t *testing.T) {
	inTemp(t, map[string]string{"small.sim": small})
	t.Setenv(asCommand, "crash")
	withSubject(t, crashing)
	for _, args := range [][]string{{"run", "--subject", "crashing"}, {"run", "small.sim", "-v", "--trace", "a b.jsonl", "--subject", "crashing", "--seed", "5"}} {
		got := command(t, args...)
		for _, want := range []string{"FAIL  NoPanic", "panic: on a goroutine", "no trace is kept: it went with the process", "--subject crashing\n"} {
			if got.code != exitBroken || !strings.Contains(got.stdout, want) {
				t.Errorf("%v: exit code %d, %q is missing: %s\n%s", args, got.code, want, got.stderr, got.stdout)
			}
		}
		if strings.Contains(got.stderr, "goroutine") {
			t.Errorf("%v: the panic is told twice: %s", args, got.stderr)
		}
	}
	t.Setenv(asCommand, "1")
	t.Setenv(dying, "panic 5")
	got := command(t, "run", "small.sim", "--subject", "client-go", "--seed", "5")
	if want := "--subject client-go@built-in"; got.code != exitBroken || strings.Count(got.stdout, want) != 2 {
		t.Errorf("exit code %d, %q should be there twice: %s\n%s", got.code, want, got.stderr, got.stdout)
	}
}

// verify tells of findings, and keeps the traces of a difference.
func TestVerifyTellsOfFindings(t *testing.T) {
	inTemp(t, nil)
	t.Setenv(asCommand, "1")
	withMoods(t, func(n int) bool { return n == 2 })
	sc := []string{"verify", "--subject", "moody", "--strategy", "fifo", "--seeds", "1", "--repeat", "3"}
	got := command(t, sc...) // the other process does not know this subject, which is an error after the finding
	if got.code != exitBroken || !strings.Contains(got.stdout, "FAIL  ReplaceDeletesMissing") || !strings.Contains(got.stderr, "not deterministic: ") {
		t.Errorf("exit code %d: %s\n%s", got.code, got.stderr, got.stdout)
	}
	if kept := verdicts(t); kept != "builtin-moody-seed1.run1.trace.jsonl pass, builtin-moody-seed1.run2.trace.jsonl ReplaceDeletesMissing" {
		t.Errorf("these traces are kept: %s", kept)
	}
}

const endless = "resource pods\ncreate pods default/a\ninformer i1 pods handlers=h1 resync=1s\nadvance 8760h\n"

// A run that takes too long is not decided, and says what it is doing.
func TestTimeout(t *testing.T) {
	inTemp(t, map[string]string{"long.sim": endless})
	t.Setenv(asCommand, "1")
	for _, line := range []string{
		"run long.sim --timeout 20ms", "run long.sim --timeout 20ms --subject client-go", "run long.sim --timeout 20ms --seed 3..9",
		"run long.sim --timeout 20ms --seed 3..9 --subject client-go", "verify long.sim --seeds 1 --timeout 20ms", "diff long.sim --timeout 20ms",
		"run long.sim --timeout 20ms --trace t.trace.jsonl",
	} {
		got := command(t, strings.Fields(line)...)
		if got.code != exitUndecided || !strings.HasPrefix(got.stderr, "not decided: ") || !strings.Contains(got.stderr, "the script waits for advance 8760h") {
			t.Errorf("%s: exit code %d: %s\n%s", line, got.code, got.stderr, got.stdout)
		}
		if strings.Contains(line, "client-go") && !strings.Contains(got.stderr, "goroutines of the stack under test\n    ") {
			t.Errorf("%s: no goroutines are shown: %s", line, got.stderr)
		}
	}
	if got := command(t, "run", "--timeout", "-1s"); got.code != exitBadInput || !strings.Contains(got.stderr, "--timeout -1s is negative") {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
	if got := command(t, "run", "--timeout", "0"); got.code != exitOK {
		t.Errorf("without a limit: exit code %d: %s", got.code, got.stderr)
	}
}

// A step that never ends cannot hold up the command, and is shown.
func TestTimeoutWithinAStep(t *testing.T) {
	inTemp(t, nil)
	before := graceTime
	t.Cleanup(func() { graceTime = before })
	graceTime = 50 * time.Millisecond
	withSubject(t, named("endless", stack.With(stack.Parts{ListOptions: func(*metav1.ListOptions) { <-make(chan int) }})))
	got := command(t, "run", "--subject", "endless", "--timeout", "20ms")
	if got.code != exitUndecided || !strings.Contains(got.stderr, "one of its steps goes on and on") || !strings.Contains(got.stderr, "TestTimeoutWithinAStep") {
		t.Errorf("exit code %d: %s\n%s", got.code, got.stderr, got.stdout)
	}
}

// A run that tries again for ever is a finding, not a matter of time.
func TestLivelockIsAFinding(t *testing.T) {
	oneGoroutine(t)
	catalogue, err := filepath.Abs("../../scenarios/testdata")
	if err != nil {
		t.Fatal(err)
	}
	inTemp(t, nil)
	for _, m := range mutants.All() {
		if m.Property != "NoLivelock" {
			continue
		}
		withSubject(t, named(m.Name, m.Kind))
		got := command(t, "run", filepath.Join(catalogue, m.Scenario+".sim"), "--subject", m.Name)
		if got.code != exitBroken || !strings.Contains(got.stdout, "FAIL  NoLivelock at step ") || !strings.Contains(got.stdout, "informersim replay ") {
			t.Errorf("%s: exit code %d: %s\n%s", m.Name, got.code, got.stderr, got.stdout)
		}
	}
}

// Ctrl-C while a run that has failed is made again, for its trace, leaves no trace of half a run: neither in a new file nor over the whole trace
// that an earlier command has kept.
func TestInterruptWhileARunIsMadeAgain(t *testing.T) {
	updates := 4000
	if testing.Short() {
		updates = 400 // as many steps as are between two looks for an interrupt, and more; the race detector takes ten times as long for each
	}
	inTemp(t, map[string]string{"long.sim": "resource pods\ncreate pods default/a\ninformer i1 pods handlers=h1\n" + strings.Repeat("update pods default/a\nadvance 1s\n", updates) + "expect i1 count=7\n"})
	runs, interrupt := 0, func() {}
	links(t, subjects.Kind{
		Name: stack.Kind.Name, Engine: stack.Kind.Engine,
		New: func(e subjects.Dependencies) subjects.Subject {
			if runs++; runs == 2 {
				interrupt()
			}
			return stack.Kind.New(e)
		},
	})
	kept := ""
	for _, before := range []string{"nothing", "a trace"} {
		if before == "a trace" {
			runs = 2
			if got := command(t, "run", "long.sim"); got.code != exitBroken || got.stderr != "" {
				t.Fatalf("exit code %d: %s", got.code, got.stderr)
			}
			kept = readFile(t, globbed(t, "*"+traceSuffix))
		}
		ctx, cancel := context.WithCancel(t.Context())
		runs, interrupt = 0, cancel
		got := commandIn(ctx, "run", "long.sim")
		cancel()
		if got.code != exitBroken || !strings.Contains(got.stdout, "FAIL  the transcript is not as expected") || !strings.Contains(got.stderr, "warning: no trace is kept: interrupted\n") {
			t.Errorf("over %s: exit code %d: %s%s", before, got.code, got.stdout, got.stderr)
		}
		if files, _ := filepath.Glob("*" + traceSuffix); len(files) > 0 && readFile(t, files[0]) != kept {
			t.Errorf("over %s: %s is the trace of half a run", before, files[0])
		}
	}
}

// A finding does not replace what the same seed has found in another way.
func TestFindingsOfASeedAreKept(t *testing.T) {
	inTemp(t, map[string]string{"wrong.sim": strings.ReplaceAll(small, "rv=1", "rv=2")})
	withSubject(t, flawed())
	want := 0
	for _, args := range [][]string{{}, {"--subject", "flawed"}, {"--subject", "client-go"}} {
		if got := command(t, append([]string{"run", "wrong.sim"}, args...)...); got.code != exitBroken {
			t.Fatalf("%v: exit code %d: %s", args, got.code, got.stderr)
		}
		want++
		if files, _ := filepath.Glob("wrong*-seed1" + traceSuffix); len(files) != want {
			t.Errorf("after %d runs with a finding there are %q", want, files)
		}
	}
}
