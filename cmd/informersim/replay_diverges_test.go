package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/cmd/internal/faultmix"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/properties/mutants"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/stack"
)

// build returns the versions of a program that was built from a commit.
func build(commit string) map[string]string {
	return map[string]string{reports.VersionProgram: "devel", reports.VersionCommit: commit, reports.VersionClient: "v0", reports.VersionGo: "go1"}
}

// becomes makes this program another build until the test ends.
func becomes(t *testing.T, versions map[string]string) {
	t.Helper()
	was := ownVersions
	ownVersions = func() map[string]string { return versions }
	t.Cleanup(func() { ownVersions = was })
}

// links makes this program one whose stack is k until the test ends.
func links(t *testing.T, k subjects.Kind) {
	t.Helper()
	was := subjectKinds
	subjectKinds = append([]subjects.Kind{k}, was...)
	t.Cleanup(func() { subjectKinds = was })
}

// writes has a build with the stack k run the built-in scenario, and writes the trace to a file.
func writes(t *testing.T, file string, k subjects.Kind, seed uint64, versions map[string]string) *scenarios.Result {
	t.Helper()
	mix, err := faultmix.Load(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	var trace bytes.Buffer
	res, err := scenarios.Run(context.Background(), scenarios.BuiltIn(), scenarios.Options{
		Subject: k, Seed: seed, Mix: mix, Properties: properties.All(), Trace: &trace, Versions: versions,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, trace.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return res
}

// found writes the trace of the first of 50 seeds at which a mutant is found in the built-in scenario, nil if there is none.
func found(t *testing.T, file string, m mutants.Mutant) *scenarios.Result {
	t.Helper()
	for seed := uint64(1); seed <= 50; seed++ {
		if res := writes(t, file, m.Kind, seed, build("b0b0")); !res.Passed() {
			return res
		}
	}
	return nil
}

func mutant(t *testing.T, name string) mutants.Mutant {
	t.Helper()
	for _, m := range mutants.All() {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("there is no mutant %q", name)
	panic("unreachable")
}

// The trace of a bug, on a program in which it is fixed: both sides of the first step that differs, both builds, and the run goes on
// as the run of the seed. It is not deterministic only if the same build wrote the trace.
func TestReplayOfAFixedBug(t *testing.T) {
	oneGoroutine(t)
	inTemp(t, nil)
	shown := 0
	for _, m := range mutants.All() {
		res := found(t, "mutant.jsonl", m)
		if res == nil {
			continue // it needs another scenario
		}
		shown++
		becomes(t, build("f1f1"))
		got := command(t, "replay", "mutant.jsonl")
		for _, want := range []string{
			"replayed mutant.jsonl: it differs from the trace at step ",
			"  written by   informersim devel, commit b0b0, client-go v0, go1\n  replayed by  informersim devel, commit f1f1, client-go v0, go1\n",
			"After that step nothing is compared, and the run goes on from seed " + fmt.Sprint(res.Seed) + ".\n  The trace's run broke " + res.Violation.Property + "; this one passed.\n",
			"  If the difference is the fix, good. To rule out nondeterminism:\n    informersim verify mutant.jsonl\n",
			fmt.Sprintf("\nPASS  %d properties held after every step\n", len(properties.All())),
		} {
			if got.code != exitOK || got.stderr != "" || !strings.Contains(got.stdout, want) {
				t.Errorf("%s: exit code %d, want %q in\n%s%s", m.Name, got.code, want, got.stdout, got.stderr)
			}
		}
		run := summaries(t, command(t, "run", "--seed", fmt.Sprint(res.Seed), "--fault-mix", "default", "--json").stdout)[0]
		s := summaries(t, command(t, "replay", "mutant.jsonl", "--json").stdout)[0]
		p := s.Replayed
		if p == nil || p.Divergence == nil || s.Hash != run.Hash || s.Steps != run.Steps || !s.Passed {
			t.Fatalf("%s: the replay is %+v with %+v, the run of the seed %+v", m.Name, s, p, run)
		}
		d := p.Divergence
		if p.Verdict != res.Verdict() || p.Steps != res.Steps || p.Ended != "" || p.NotDeterministic != "" || p.Verify != "informersim verify mutant.jsonl" ||
			!maps.Equal(p.WrittenBy, build("b0b0")) || !maps.Equal(p.ReplayedBy, build("f1f1")) || d.Step == 0 || d.Why == "" ||
			slices.Equal(d.Trace, d.Run) || !strings.Contains(got.stdout, fmt.Sprintf("at step %d (", d.Step)) || !strings.Contains(got.stdout, "\n  "+d.Why+"\n") {
			t.Errorf("%s: --json says %+v, %+v", m.Name, p, d)
		}
		lines := command(t, "replay", "mutant.jsonl", "mutant.jsonl")
		want := fmt.Sprintf("mutant.jsonl: differs from the trace at step %d: %s; the trace's run broke %s; this one passed (written by "+
			"informersim devel, commit b0b0, client-go v0, go1; replayed by informersim devel, commit f1f1, client-go v0, go1)\n", d.Step, d.Why, res.Violation.Property)
		if lines.code != exitOK || lines.stdout != want+want {
			t.Errorf("%s: exit code %d\n%swant twice\n%s", m.Name, lines.code, lines.stdout, want)
		}

		becomes(t, build("b0b0"))
		got = command(t, "replay", "mutant.jsonl")
		if want := fmt.Sprintf("not deterministic: mutant.jsonl: step %d: the program that wrote the trace is this one, informersim devel, commit b0b0", d.Step); got.code != exitNotDeterministic ||
			!strings.HasPrefix(got.stderr, want) || !strings.Contains(got.stdout, "This is not deterministic: ") || !strings.Contains(got.stdout, "\nPASS  ") {
			t.Errorf("%s, the same build: exit code %d, %swant %s\n%s", m.Name, got.code, got.stderr, want, got.stdout)
		}
		if got := command(t, "replay", "mutant.jsonl", "mutant.jsonl"); got.code != exitNotDeterministic || strings.Count(got.stdout, "; not deterministic: the program that") != 2 {
			t.Errorf("%s, twice: exit code %d, %s\n%s", m.Name, got.code, got.stderr, got.stdout)
		}
	}
	if shown < len(mutants.All())/2 {
		t.Errorf("only %d mutants were shown by the built-in scenario", shown)
	}
}

// The command that replay offers shows whether the run repeats.
func TestVerifyOfATrace(t *testing.T) {
	t.Setenv(asCommand, "1") // for the process that verify starts
	inTemp(t, map[string]string{"small.sim": small})
	res := found(t, "mutant.jsonl", mutant(t, "notify-before-store"))
	m := regexp.MustCompile(`(?m)^    informersim (verify .*)$`).FindStringSubmatch(command(t, "replay", "mutant.jsonl").stdout)
	if m == nil {
		t.Fatal("there is no command that verifies")
	}
	got := command(t, strings.Fields(m[1])...)
	if got.code != exitOK || !strings.HasPrefix(got.stdout, "1 seed × 3 runs: 1 distinct hash\n  subject stack · strategy random · fault mix default · ") {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if got := command(t, "verify", "mutant.jsonl", "--seeds", "3"); got.code != exitBadInput || !strings.Contains(got.stderr, "--seeds: mutant.jsonl is a trace, whose run has its own; leave the flag out") {
		t.Errorf("with --seeds: exit code %d: %s", got.code, got.stderr)
	}
	links(t, never()) // in this process
	if got := command(t, "verify", "mutant.jsonl"); got.code != exitNotDeterministic || !strings.Contains(got.stderr, fmt.Sprintf("seed %d: run 1 has", res.Seed)) {
		t.Errorf("a stack that differs from run to run: exit code %d: %s", got.code, got.stderr)
	}
}

// never returns a stack that does something else each time.
func never() subjects.Kind {
	var lists atomic.Int64
	return stack.With(stack.Parts{ListOptions: func(o *metav1.ListOptions) { n := 1000 + lists.Add(1); o.TimeoutSeconds = &n }})
}

// A stack that does something else each time is not deterministic, whoever wrote the trace.
func TestReplayOfANondeterministicStack(t *testing.T) {
	inTemp(t, nil)
	writes(t, "good.jsonl", stack.Kind, 1, build("b0b0"))
	becomes(t, build("f1f1"))
	links(t, never())
	got := command(t, "replay", "good.jsonl")
	if got.code != exitNotDeterministic || !strings.Contains(got.stderr, "replayed twice, the trace gives two runs: hash ") || !strings.Contains(got.stdout, "conn/i1 sends request 1 for pods: list ") {
		t.Errorf("exit code %d: %s\n%s", got.code, got.stderr, got.stdout)
	}
	if s := summaries(t, command(t, "replay", "good.jsonl", "--json").stdout); len(s) != 1 || s[0].Replayed.NotDeterministic == "" {
		t.Errorf("--json: %+v", s)
	}
}

// A property that breaks after the difference: exit code 1, what broke as run prints it, and whether it is what broke before.
func TestReplayThatBreaks(t *testing.T) {
	inTemp(t, nil)
	m := mutant(t, "wrong-old")
	seed := found(t, "same.jsonl", m).Seed
	fixed := writes(t, "passed.jsonl", stack.Kind, seed, build("b0b0"))
	other := found(t, "other.jsonl", mutant(t, "notify-before-store"))
	if !fixed.Passed() || other.Seed == 0 {
		t.Fatalf("without the defect: %s", fixed.Verdict())
	}
	becomes(t, build("f1f1"))
	links(t, m.Kind)
	for _, tt := range []struct{ file, finding string }{
		{"passed.jsonl", fmt.Sprintf("The trace's run passed; this one broke %s.", m.Property)},
		{"other.jsonl", fmt.Sprintf("The trace's run broke %s; this one breaks another property, %s, at step ", other.Violation.Property, m.Property)},
	} {
		got := command(t, "replay", tt.file)
		if got.code != exitBroken || got.stderr != "" {
			t.Fatalf("%s: exit code %d: %s\n%s", tt.file, got.code, got.stderr, got.stdout)
		}
		for _, want := range []string{tt.finding, "\nFAIL  " + m.Property + " at step ", "\n  because step ", "\n  what happened\n    step ", "\n  see it again\n    informersim replay " + tt.file + "\n    informersim run --seed "} {
			if !strings.Contains(got.stdout, want) {
				t.Errorf("%s: %q is missing in\n%s", tt.file, want, got.stdout)
			}
		}
		for _, line := range replayLines(t, got.stdout) {
			if again := command(t, line[1:]...); again.code != exitBroken || !strings.Contains(again.stdout, "\nFAIL  "+m.Property+" at step ") {
				t.Errorf("%q: exit code %d\n%s%s", line, again.code, again.stdout, again.stderr)
			}
		}
		s := summaries(t, command(t, "replay", tt.file, "--json").stdout)
		if len(s) != 1 || s[0].Passed || s[0].Violation == nil || len(s[0].Violation.Because) == 0 || len(s[0].Story) == 0 || len(s[0].Replay) != 2 || s[0].Replayed.Divergence == nil {
			t.Errorf("%s: --json: %+v", tt.file, s)
		}
	}
	// The same run still breaks the same property, and is explained as run explains it.
	got := command(t, "replay", "same.jsonl")
	ran := command(t, "run", "--seed", fmt.Sprint(seed), "--fault-mix", "default", "--trace", "ran.jsonl")
	body := func(text string) string { return text[strings.Index(text, "scenario builtin"):] }
	if got.code != exitBroken || !strings.HasPrefix(got.stdout, "replayed same.jsonl: the same run, step by step\n") || body(got.stdout) != strings.ReplaceAll(body(ran.stdout), "ran.jsonl", "same.jsonl") {
		t.Errorf("exit code %d\n%srun prints\n%s", got.code, got.stdout, ran.stdout)
	}
}

// The same property that breaks after a difference is said to be the same.
func TestReplayThatBreaksTheSame(t *testing.T) {
	inTemp(t, nil)
	m := mutant(t, "wrong-old")
	res := found(t, "mutant.jsonl", m)
	text, err := os.ReadFile("mutant.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	// Half of the trace, and then an end that the defect does not have here.
	tr, err := sim.NewTraceReader("mutant.jsonl", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for range res.Steps / 2 {
		if _, err := tr.Next(); err != nil {
			t.Fatal(err)
		}
	}
	last, err := tr.Next()
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	half := append(bytes.Join(lines[:last.Line+len(last.Records)], nil), fmt.Sprintf(`{"end":%q,"steps":%d,"hash":%q}`+"\n", m.Property, last.Step, last.Hash)...)
	if err := os.WriteFile("half.jsonl", half, 0o666); err != nil {
		t.Fatal(err)
	}
	links(t, m.Kind)
	got := command(t, "replay", "half.jsonl")
	for _, want := range []string{
		fmt.Sprintf("differs from the trace at step %d ", last.Step+1), "the trace ends before this step: its run broke " + m.Property + "; here the run goes on: ",
		fmt.Sprintf("The trace's run broke %s, and this one breaks the same property, at step %d.", m.Property, res.Violation.Step),
	} {
		if got.code != exitBroken || !strings.Contains(got.stdout, want) {
			t.Errorf("exit code %d, want %q in\n%s%s", got.code, want, got.stdout, got.stderr)
		}
	}
}

// The trace of a run that was ended from outside is replayed to where it ended, and says so; so is one without its end line.
func TestReplayOfAnUnfinishedRun(t *testing.T) {
	inTemp(t, map[string]string{"small.sim": small})
	good := traced(t)
	lines := strings.SplitAfter(good, "\n")
	third := good[:strings.Index(good, `{"s":3,`)]
	hash := regexp.MustCompile(`"h":"([0-9a-f]{16})"`).FindAllStringSubmatch(third, -1)[1][1]
	ended := func(verdict string) string {
		return third + fmt.Sprintf(`{"end":%q,"steps":2,"hash":%q}`+"\n", verdict, hash)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"interrupted", ended("interrupted"), "up to step 2\n  The trace ends there: its run was interrupted. What would have come after it is not known."},
		{"timeout", ended("timeout"), "up to step 2\n  The trace ends there: its run ran out of time."},
		{"killed", third, "up to step 2\n  The trace ends there: its end line is missing: its run was killed, or the file was cut between two steps."},
		{"end line lost", strings.Join(lines[:len(lines)-2], ""), "The trace ends there: its end line is missing"},
		{"edited verdict", strings.Replace(good, `{"end":"pass"`, `{"end":"PerKeyOrder"`, 1), "every step is the same, but by its end line the trace's run broke PerKeyOrder, and here it passed: what is checked has changed, or the end line was edited"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile("x.jsonl", []byte(tt.text), 0o666); err != nil {
				t.Fatal(err)
			}
			got := command(t, "replay", "x.jsonl")
			if got.code != exitOK || got.stderr != "" || !strings.Contains(got.stdout, tt.want) {
				t.Errorf("exit code %d: %s\n%swant %s", got.code, got.stderr, got.stdout, tt.want)
			}
			s := summaries(t, command(t, "replay", "x.jsonl", "--json").stdout)
			if len(s) != 1 || (s[0].Replayed.Ended == "") != (tt.name == "edited verdict") {
				t.Errorf("--json: %+v", s[0].Replayed)
			}
		})
	}
}

// Ctrl-C leaves a trace that replays to where it ended.
func TestReplayOfAnInterruptedRun(t *testing.T) {
	inTemp(t, map[string]string{"long.sim": "resource pods\ncreate pods default/a\ninformer i1 pods handlers=h1\n" + strings.Repeat("update pods default/a\nadvance 1s\n", 4000)})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	links(t, subjects.Kind{
		Name: stack.Kind.Name, Engine: stack.Kind.Engine,
		New: func(e subjects.Dependencies) subjects.Subject { cancel(); return stack.Kind.New(e) },
	})
	if got := commandIn(ctx, "run", "long.sim", "--seed", "1", "--trace", "long.jsonl"); got.code != exitInterrupted {
		t.Fatalf("exit code %d: %s", got.code, got.stderr)
	}
	got := command(t, "replay", "long.jsonl")
	if got.code != exitOK || !strings.Contains(got.stdout, "up to step 256\n  The trace ends there: its run was interrupted.") || !strings.Contains(got.stdout, "\n      256 steps ") {
		t.Errorf("exit code %d: %s\n%s", got.code, got.stderr, got.stdout)
	}
}
