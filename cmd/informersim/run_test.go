package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/properties/mutants"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/subjects"
)

// summary is a line of --json.
func summaries(t *testing.T, text string) []reports.Summary {
	t.Helper()
	var all []reports.Summary
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	for {
		var s reports.Summary
		err := d.Decode(&s)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatalf("--json prints something other than a summary: %v\n%s", err, text)
		}
		all = append(all, s)
	}
}

// Without arguments, run plays the built-in scenario and reports what happened.
func TestRunBuiltIn(t *testing.T) {
	inTemp(t, nil)
	got := command(t, "run")
	if got.code != exitOK || got.stderr != "" {
		t.Fatalf("exit code %d: %s", got.code, got.stderr)
	}
	for _, want := range []string{
		"scenario builtin · subject stack · strategy fifo · seed 1\nPASS  ", " properties held after every step\n",
		" steps · ", " of virtual time · ", " faults injected (", "\n      hash ",
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%q is missing in\n%s", want, got.stdout)
		}
	}
	if left, _ := os.ReadDir("."); len(left) > 0 {
		t.Errorf("a run that passes leaves %v", left)
	}
}

// A range prints a line for each seed, in order, regardless of which run finished first; repeating it gives the same text.
func TestRunRangeAsJSON(t *testing.T) {
	inTemp(t, map[string]string{"small.sim": small})
	got := command(t, "run", "small.sim", "--seed", "5..60", "--fault-mix", "storm", "--json")
	all := summaries(t, got.stdout)
	if got.code != exitOK || len(all) != 56 || strings.Count(got.stdout, "\n") != 56 {
		t.Fatalf("exit code %d, %d summaries: %s", got.code, len(all), got.stderr)
	}
	for i, s := range all {
		if s.Seed != uint64(5+i) || !s.Passed || s.Verdict != "pass" || s.Scenario != "small" || s.Subject != "stack" || s.Strategy != "random" || s.Mix != "storm" || s.Steps == 0 || len(s.Hash) != 16 {
			t.Errorf("summary %d: %+v", i, s)
		}
	}
	if again := command(t, "run", "small.sim", "--seed", "5..60", "--fault-mix", "storm", "--json"); again.stdout != got.stdout {
		t.Error("repeating the command prints something else")
	}
	text := command(t, "run", "small.sim", "--seed", "5..60", "--fault-mix", "storm")
	for _, want := range []string{"scenario small · subject stack · seeds 5..60 · fault mix storm\nPASS  56 runs, ", " distinct runs\n"} {
		if !strings.Contains(text.stdout, want) {
			t.Errorf("%q is missing in\n%s", want, text.stdout)
		}
	}
}

// A transcript that differs from the expected one: exit code 1, the place, the difference, and commands that reproduce it.
func TestRunMismatch(t *testing.T) {
	inTemp(t, map[string]string{"a mismatch.sim": strings.ReplaceAll(small, "rv=1", "rv=7") + "\nexpect i1 count=3\n"})
	got := command(t, "run", "a mismatch.sim")
	if got.code != exitBroken || got.stderr != "" {
		t.Fatalf("exit code %d: %s", got.code, got.stderr)
	}
	for _, want := range []string{
		"FAIL  the transcript is not as expected\n",
		"a mismatch.sim:6:1: the output differs from the script's (--rewrite accepts the new one)\n",
		"-h1 add default/a rv=7 initial\n", "+h1 add default/a rv=1 initial\n",
		"a mismatch.sim:9:1: informer i1 holds 1 objects, want 3\n",
		"see it again\n    informersim replay 'a mismatch-seed1.trace.jsonl'\n    informersim run 'a mismatch.sim' --seed 1 --strategy fifo\n",
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%q is missing in\n%s", want, got.stdout)
		}
	}
	for _, line := range replayLines(t, got.stdout) {
		if again := command(t, line[1:]...); again.code != exitBroken || !strings.Contains(again.stdout, "informer i1 holds 1 objects, want 3") {
			t.Errorf("%q: exit code %d\n%s%s", line, again.code, again.stdout, again.stderr)
		}
	}
	if s := summaries(t, command(t, "run", "a mismatch.sim", "--json").stdout); len(s) != 1 || s[0].Passed || s[0].Verdict != "mismatch" || len(s[0].Mismatches) != 2 || len(s[0].Replay) != 2 {
		t.Errorf("--json: %+v", s)
	}
}

var replayBlock = regexp.MustCompile(`(?m)^  see it again\n((?:    .*\n)+)`)

// replayLines returns the commands that a report offers for pasting, split as by a shell.
func replayLines(t *testing.T, text string) [][]string {
	t.Helper()
	m := replayBlock.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("nothing to paste in\n%s", text)
	}
	var lines [][]string
	for line := range strings.SplitSeq(strings.TrimRight(m[1], "\n"), "\n") {
		lines = append(lines, shellSplit(strings.TrimSpace(line)))
	}
	return lines
}

func shellSplit(line string) []string {
	var words []string
	for line != "" {
		word := ""
		for line != "" && line[0] != ' ' {
			if line[0] == '\'' {
				end := strings.IndexByte(line[1:], '\'') + 1
				word += line[1:end]
				line = line[end+1:]
				continue
			}
			word, line = word+line[:1], line[1:]
		}
		words = append(words, word)
		line = strings.TrimLeft(line, " ")
	}
	return words
}

// --rewrite puts the actual outputs into the script; the second time it changes nothing.
func TestRewrite(t *testing.T) {
	inTemp(t, map[string]string{"small.sim": strings.ReplaceAll(small, "rv=1", "rv=7")})
	for _, want := range []string{"small.sim: rewritten\n", "small.sim: unchanged\n"} {
		if got := command(t, "run", "small.sim", "--rewrite"); got.code != exitOK || got.stdout != want {
			t.Errorf("exit code %d, %q %s, want %q", got.code, got.stdout, got.stderr, want)
		}
	}
	if text, err := os.ReadFile("small.sim"); err != nil || string(text) != small {
		t.Errorf("the script is now %q, %v", text, err)
	}
	if got := command(t, "run", "small.sim"); got.code != exitOK {
		t.Errorf("the rewritten script: %s", got.stdout)
	}
}

// withSubject adds a subject to the command during a test.
func withSubject(t *testing.T, k subjects.Kind) {
	t.Helper()
	before := subjectKinds
	subjectKinds = append(before[:len(before):len(before)], k)
	t.Cleanup(func() { subjectKinds = before })
}

// named returns a kind under another name.
func named(name string, k subjects.Kind) subjects.Kind {
	k.Name = name
	return k
}

// Every mutant is found from the command line: the report names the property and the step, and the commands that it prints
// reproduce it at the same step.
func TestRunFindsMutants(t *testing.T) {
	oneGoroutine(t)
	for _, m := range mutants.All() {
		t.Run(m.Name, func(t *testing.T) {
			script, err := os.ReadFile(filepath.Join("..", "..", "scenarios", "testdata", m.Scenario+".sim"))
			if err != nil {
				t.Fatal(err)
			}
			inTemp(t, map[string]string{"shows.sim": mutants.WithQueue(string(script), m.Queue)})
			withSubject(t, named(m.Name, m.Kind))
			got := command(t, "run", "shows.sim", "--subject", m.Name)
			if got.code != exitBroken || got.stderr != "" {
				t.Fatalf("exit code %d: %s\n%s", got.code, got.stderr, got.stdout)
			}
			verdict := regexp.MustCompile(`(?m)^FAIL  (\w+) at step \d+ `).FindStringSubmatch(got.stdout)
			if verdict == nil || verdict[1] != m.Property && verdict[1] != m.Or {
				t.Fatalf("it finds %v, not %s:\n%s", verdict, m.Property, got.stdout)
			}
			if !strings.Contains(got.stdout, "what happened\n    step ") {
				t.Errorf("no story in\n%s", got.stdout)
			}
			for _, line := range replayLines(t, got.stdout) {
				again := command(t, line[1:]...)
				if again.code != exitBroken || !strings.Contains(again.stdout, verdict[0]) {
					t.Errorf("%q: exit code %d, %s\n%s", line, again.code, again.stderr, again.stdout)
				}
			}
		})
	}
}

// A range stops at the first seed that fails, regardless of which processor ran it, and reports it like a single run.
func TestRunRangeFindsMutant(t *testing.T) {
	m := mutants.All()[0]
	inTemp(t, nil)
	withSubject(t, named(m.Name, m.Kind))
	got := command(t, "run", "--subject", m.Name, "--seed", "1..200", "--fault-mix", "default")
	found := regexp.MustCompile(`^(\d+) of 200 seeds passed before this one\nscenario builtin · subject \S+ · strategy random · seed (\d+) · fault mix default\nFAIL  ReplaceDeletesMissing at step \d+ `).FindStringSubmatch(got.stdout)
	if got.code != exitBroken || found == nil {
		t.Fatalf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	var before, seed int
	fmt.Sscan(found[1], &before)
	fmt.Sscan(found[2], &seed)
	if seed != before+1 {
		t.Errorf("seed %d failed after %d passed", seed, before)
	}
	lines := replayLines(t, got.stdout)
	if want := fmt.Sprintf("[informersim run --seed %d --strategy random --fault-mix default --subject %s]", seed, m.Name); fmt.Sprint(lines[1]) != want {
		t.Errorf("it prints %s, want %s", lines[1], want)
	}
	for _, line := range lines {
		if again := command(t, line[1:]...); again.code != exitBroken || !strings.Contains(again.stdout, "FAIL  ReplaceDeletesMissing at step ") {
			t.Errorf("%q: exit code %d\n%s%s", line, again.code, again.stdout, again.stderr)
		}
	}
	all := summaries(t, command(t, "run", "--subject", m.Name, "--seed", "1..200", "--fault-mix", "default", "--json").stdout)
	last := all[len(all)-1]
	if len(all) != before+1 || last.Passed || last.Violation == nil || last.Violation.Property != "ReplaceDeletesMissing" || last.Violation.Step == 0 || len(last.Replay) == 0 {
		t.Errorf("--json: %d summaries, the last %+v", len(all), last)
	}
}

// A scenario for a known bug: the transcript shows the bug, other schedules may.
func TestRunKnownBug(t *testing.T) {
	path, err := filepath.Abs("../../scenarios/testdata/k133810.sim")
	if err != nil {
		t.Fatal(err)
	}
	inTemp(t, nil)
	pass := regexp.MustCompile(`\nPASS  the scenario breaks IndexerConverges at step \d+, as expected\n`)
	if got := command(t, "run", path); got.code != exitOK || !pass.MatchString(got.stdout) {
		t.Errorf("exit code %d\n%s", got.code, got.stdout)
	}
	got := command(t, "run", path, "--seed", "1..20")
	if want := regexp.MustCompile(`\nPASS  20 runs, of which \d+ broke IndexerConverges, as expected; all other properties held\n`); got.code != exitOK || !want.MatchString(got.stdout) {
		t.Errorf("exit code %d\n%s", got.code, got.stdout)
	}
	if got := command(t, "run", path, "--seed", "1", "--strategy", "fifo", "--trace", "t.jsonl"); got.code != exitOK {
		t.Errorf("exit code %d\n%s", got.code, got.stdout)
	}
	if got := command(t, "replay", "t.jsonl"); got.code != exitOK {
		t.Errorf("the replay: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// Ctrl-C ends a range, and a long run, with exit code 130.
func TestInterrupt(t *testing.T) {
	inTemp(t, map[string]string{"long.sim": "resource pods\ncreate pods default/a\ninformer i1 pods handlers=h1 resync=1s\nadvance 8760h\n"})
	ctx, cancel := context.WithCancel(t.Context())
	var stderr bytes.Buffer
	out := writerFunc(func(b []byte) (int, error) {
		cancel() // at the first printed line
		return len(b), nil
	})
	code := run(ctx, []string{"run", "--seed", "1..18446744073709551615", "--fault-mix", "default", "--json"}, out, &stderr)
	if want := regexp.MustCompile(`^interrupted at seed (\d+); the (\d+) before it passed\n$`); code != exitInterrupted || !want.MatchString(stderr.String()) {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	late, stop := context.WithCancel(context.Background())
	context.AfterFunc(ctx, stop)
	if got := commandIn(late, "run", "long.sim"); got.code != exitInterrupted || got.stderr != "interrupted\n" {
		t.Errorf("a long run: exit code %d: %s", got.code, got.stderr)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// The same with a process and a signal.
func TestInterruptSignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process there cannot be sent an interrupt")
	}
	c := process(t, "run", "--seed", "1..1000000000", "--fault-mix", "default", "--json")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Errorf("it printed nothing: %v", err)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, out) //nolint:errcheck // so that the process does not wait for us
	err = c.Wait()
	if c.ProcessState.ExitCode() != exitInterrupted || !strings.HasPrefix(stderr.String(), "interrupted at seed ") {
		t.Errorf("%v, exit code %d: %s", err, c.ProcessState.ExitCode(), stderr.String())
	}
}

// process is the command as a process of its own, in a folder of its own.
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, args...)
	c.Env = append(os.Environ(), asCommand+"=1")
	c.Dir = t.TempDir()
	return c
}

// -v prints what commands say, expected or not, and leaves the file alone.
func TestVerbose(t *testing.T) {
	text := strings.TrimSuffix(small, "----\nh1 add default/a rv=1 initial\n") + "requests i1 # what it asked\nshow pods\nlog h1\n"
	inTemp(t, map[string]string{"small.sim": text})
	got := command(t, "run", "small.sim", "-v")
	const want = "\n\n  small.sim:5:1: log h1\n    h1 add default/a rv=1 initial\n\n  small.sim:6:1: requests i1\n    list "
	const end = "\n\n  small.sim:7:1: show pods\n    default/a rv=1\n\n  small.sim:8:1: log h1\n    (nothing)\n\nPASS  "
	if got.code != exitOK || !strings.Contains(got.stdout, want) || !strings.Contains(got.stdout, end) {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if after, err := os.ReadFile("small.sim"); err != nil || string(after) != text {
		t.Errorf("the script is now %q, %v", after, err)
	}
	if got := command(t, "run", "small.sim"); strings.Contains(got.stdout, "h1 add") {
		t.Errorf("without -v it prints\n%s", got.stdout)
	}
	if got := command(t, "run", "small.sim", "-v", "--seed", "3", "--fault-mix", "storm"); got.code != exitOK || !strings.Contains(got.stdout, "small.sim:7:1: show pods") {
		t.Errorf("explored: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	s := summaries(t, command(t, "run", "small.sim", "-v", "--json").stdout)
	if len(s) != 1 || len(s[0].Outputs) != 4 || s[0].Outputs[2] != (reports.Output{At: "small.sim:7:1", Command: "show pods", Text: "default/a rv=1\n"}) {
		t.Errorf("--json: %+v", s)
	}
	// What was said before something broke is printed, too.
	if err := os.WriteFile("small.sim", []byte(text+"expect i1 count=3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := command(t, "run", "small.sim", "--verbose"); got.code != exitBroken || !strings.Contains(got.stdout, "small.sim:7:1: show pods\n    default/a rv=1\n") {
		t.Errorf("a failure: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	for _, args := range []string{"run small.sim -v --rewrite", "run small.sim -v --seed 1..3"} {
		if got := command(t, strings.Fields(args)...); got.code != exitBadInput || !strings.Contains(got.stderr, "-v prints") {
			t.Errorf("%s: exit code %d, %s", args, got.code, got.stderr)
		}
	}
}
