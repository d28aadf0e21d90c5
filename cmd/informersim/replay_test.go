package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/informersim/informersim/reports"
)

// traced runs the small scenario and returns its trace.
func traced(t *testing.T) string {
	t.Helper()
	if got := command(t, "run", "small.sim", "--seed", "3", "--fault-mix", "storm", "--trace", "good.trace.jsonl"); got.code != exitOK {
		t.Fatal(got.stderr)
	}
	text, err := os.ReadFile("good.trace.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReplayCommand(t *testing.T) {
	inTemp(t, map[string]string{"small.sim": small})
	traced(t)
	if got := command(t, "replay", "good.trace.jsonl"); got.code != exitOK || !strings.HasPrefix(got.stdout, "replayed good.trace.jsonl: the same run, step by step\nscenario small · ") || !strings.Contains(got.stdout, "\nPASS  ") {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if got := command(t, "replay", "good.trace.jsonl", "good.trace.jsonl"); got.code != exitOK || strings.Count(got.stdout, "good.trace.jsonl: same run: ") != 2 {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if s := summaries(t, command(t, "replay", "good.trace.jsonl", "--json").stdout); len(s) != 1 || s[0].Seed != 3 || s[0].Mix != "storm" {
		t.Errorf("--json: %+v", s)
	}
}

// A trace that was cut, edited, or written by a newer informersim: exit code 2, and the line.
func TestReplayBadTraces(t *testing.T) {
	oneGoroutine(t)
	inTemp(t, map[string]string{"small.sim": small})
	good := traced(t)
	lines := strings.SplitAfter(good, "\n")
	third := strings.Index(good, `{"s":3,`)
	last := strings.LastIndex(good, "default/a")
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "bad.jsonl:1: the file is empty"},
		{"cut in a line", good[:len(good)/2], "bad.jsonl:"},
		{"cut in the header", good[:9], "bad.jsonl:1: the trace is cut off in the middle of a line; its header is not complete, so no step of it can be replayed"},
		{"cut in the third step", good[:third+9], "the trace is cut off in the middle of a line; its 2 complete steps were replayed"},
		{"a line lost", strings.Join(lines[:2], "") + strings.Join(lines[3:], ""), "bad.jsonl:"},
		{"twice", good + good, "there are lines after the end line"},
		{"edited record", good[:last] + "default/b" + good[last+len("default/b"):], "the trace was edited or damaged here"},
		{"edited script", strings.Replace(good, "default/a", "default/b", 1), "the trace was edited or damaged here or in its header"},
		{"broken script", strings.Replace(good, "informer i1", "informre i1", 1), "error: bad.jsonl:1: the script in the trace's header: small:3:1: "},
		{"newer version", strings.Replace(good, `"version":3`, `"version":4`, 1), "bad.jsonl:1: the trace has format version 4; this informersim reads versions up to 3: use a newer one"},
		{"another subject", strings.Replace(good, `"subject":"stack"`, `"subject":"stak"`, 1), `error: bad.jsonl:1: there is no subject "stak"; did you mean "stack"?`},
		{"another format", `{"log":{"version":"1.2"}}` + "\n", "this is not a trace"},
		{"zeros", strings.Repeat("\x00", 1<<20), "bad.jsonl:1: the trace is cut off in the middle of a line"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile("bad.jsonl", []byte(tt.text), 0o666); err != nil {
				t.Fatal(err)
			}
			got := command(t, "replay", "bad.jsonl")
			if got.code != exitBadInput || !strings.Contains(got.stderr, tt.want) || strings.Contains(got.stderr, "bug of informersim") {
				t.Errorf("exit code %d: %s\nwant %s", got.code, got.stderr, tt.want)
			}
			if strings.Contains(got.stdout, "PASS") && !strings.Contains(got.stdout, "bad.jsonl: the same run, step by step, up to step ") {
				t.Errorf("it passes:\n%s", got.stdout)
			}
		})
	}
	huge(t, "huge.jsonl")
	if got := command(t, "replay", "huge.jsonl"); got.code != exitBadInput || !strings.HasPrefix(got.stderr, "error: huge.jsonl:1: ") {
		t.Errorf("100 MB of nothing: exit code %d: %.200s", got.code, got.stderr)
	}
	if _, err := os.Stat("/dev/zero"); err == nil {
		if got := command(t, "replay", "/dev/zero"); got.code != exitBadInput || !strings.HasPrefix(got.stderr, "error: /dev/zero:1: ") {
			t.Errorf("zeros without an end: exit code %d: %.200s", got.code, got.stderr)
		}
	}
	huge(t, "huge.json")
	if got := command(t, "import", "huge.json", "--from", "list"); got.code != exitBadInput || !strings.HasPrefix(got.stderr, "error: huge.json") {
		t.Errorf("100 MB of nothing to import: exit code %d: %.200s", got.code, got.stderr)
	}
}

// Recordings of a real apiserver become scenarios that hold under 100 schedules with faults, and the trace of each replays in
// another process.
func TestImportRunReplay(t *testing.T) {
	data, err := filepath.Abs(filepath.Join("..", "..", "scenarios", "recording", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ file, from string }{
		{"widgets-watch.jsonl", "watch-events"}, {"widgets-list.json", "list"}, {"widgets-list-raw.json", "list"}, {"pods-audit.jsonl", "audit"},
	} {
		t.Run(tt.file, func(t *testing.T) {
			inTemp(t, nil)
			got := command(t, "import", filepath.Join(data, tt.file), "--from", tt.from, "-o", "rec.sim")
			if got.code != exitOK || !strings.Contains(got.stderr, tt.file+": ") || !strings.Contains(got.stderr, "; wrote rec.sim\n") {
				t.Fatalf("import: exit code %d: %s", got.code, got.stderr)
			}
			if printed := command(t, "import", filepath.Join(data, tt.file), "--from", tt.from); printed.code != exitOK {
				t.Errorf("import to standard output: %s", printed.stderr)
			} else if text, err := os.ReadFile("rec.sim"); err != nil || string(text) != printed.stdout {
				t.Errorf("standard output differs from the file: %v", err)
			}
			if got = command(t, "run", "rec.sim"); got.code != exitOK {
				t.Fatalf("the transcript: %s%s", got.stdout, got.stderr)
			}
			seeds := 100
			if testing.Short() {
				seeds = 40
			}
			got = command(t, "run", "rec.sim", "--seed", fmt.Sprintf("1..%d", seeds), "--fault-mix", "default", "--trace", "traces", "--json")
			ran := summaries(t, got.stdout)
			if got.code != exitOK || len(ran) != seeds {
				t.Fatalf("exit code %d after %d seeds: %s", got.code, len(ran), got.stderr)
			}
			traces, err := filepath.Glob("traces/rec-default-seed*.trace.jsonl")
			if err != nil || len(traces) != seeds {
				t.Fatalf("%d traces, %v", len(traces), err)
			}
			c := process(t, append([]string{"replay", "--json"}, traces...)...)
			if c.Dir, err = os.Getwd(); err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			c.Stderr = &stderr
			out, err := c.Output()
			if err != nil {
				t.Fatalf("the replays: %v: %s", err, stderr.String())
			}
			hashes := map[uint64]string{}
			for _, s := range summaries(t, string(out)) {
				hashes[s.Seed] = s.Hash
			}
			distinct := map[string]bool{}
			for _, s := range ran {
				distinct[s.Hash] = true
				if hashes[s.Seed] != s.Hash {
					t.Errorf("seed %d: the run has hash %s, the replay in another process %q", s.Seed, s.Hash, hashes[s.Seed])
				}
			}
			if len(distinct) != len(ran) {
				t.Errorf("%d seeds made %d different runs", len(ran), len(distinct))
			}
		})
	}
}

// Whatever a script or a trace holds, nothing but text, newlines and tabs gets onto the terminal.
func TestNothingControlsTheTerminal(t *testing.T) {
	const evil = "\x1b[2J\a\u202e\u009b1m"
	inTemp(t, map[string]string{
		"comment.sim":             "# " + evil + "\n" + small,
		"unknown" + evil + ".sim": "set" + evil + "le\n",
		"output.sim":              strings.ReplaceAll(small, "rv=1", "rv=1"+evil),
		"name.sim":                strings.ReplaceAll(small, "i1", `"i`+`\x1b[31m"`) + "\nexpect \"i\\x1b[31m\" count=7\n",
		"key.sim":                 "resource pods\ncreate pods \"default/\\x1b]0;x\\a\"\ninformer i1 pods handlers=h1\nsettle\nexpect i1 count=3\nexpect nothing\n",
		"payload.sim":             "resource pods\ncreate pods default/a {\"spec\": {\"" + "\u202e" + "\": 7}}\nfrob\n",
	})
	check := func(args ...string) {
		t.Helper()
		got := command(t, args...)
		for i, r := range got.stdout + got.stderr {
			if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
				t.Errorf("%q: %U is printed at byte %d of\n%q", args, r, i, got.stdout+got.stderr)
				return
			}
		}
	}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		check("run", f.Name())
		check("run", f.Name(), "--json")
		check("run", f.Name(), "--seed", "1..3", "--trace", "traces"+evil)
		check("replay", f.Name())
		check("import", f.Name(), "--from", "list")
	}
	traces, err := filepath.Glob("*.trace.jsonl")
	if err != nil || len(traces) == 0 {
		t.Fatalf("traces %v, %v", traces, err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, path := range traces {
		check("replay", path)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			at := rng.IntN(len(good))
			crafted := string(good[:at]) + []string{evil, `\u001b[31m`, `\r`, "\r", `\u202e`, "\x00", "\xff"}[rng.IntN(7)] + string(good[at:])
			if err := os.WriteFile("crafted.jsonl", []byte(crafted), 0o600); err != nil {
				t.Fatal(err)
			}
			check("replay", "crafted.jsonl")
		}
	}
}

// The lines to paste of a script with a hostile name run that script and nothing else.
func TestPasteHostileName(t *testing.T) {
	for _, name := range []string{"'; touch PWNED; '.sim", "$(touch PWNED)`touch PWNED`.sim", "-seed.sim", "a b\\.sim"} {
		inTemp(t, map[string]string{name: strings.ReplaceAll(small, "rv=1", "rv=7")})
		got := command(t, "run", "./"+name)
		m := replayBlock.FindStringSubmatch(got.stdout)
		if got.code != exitBroken || m == nil {
			t.Fatalf("%s: exit code %d\n%s%s", name, got.code, got.stdout, got.stderr)
		}
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(m[1]) {
			cmd := exec.Command("sh", "-c", "informersim() { "+reports.ShellQuote(exe)+" \"$@\"; }\n"+line)
			cmd.Env = append(os.Environ(), asCommand+"=1")
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != exitBroken || !strings.Contains(string(out), "FAIL  the transcript") {
				t.Errorf("%s%v\n%s", line, err, out)
			}
		}
		if _, err := os.Stat("PWNED"); err == nil {
			t.Errorf("%s: the line does something else, too", name)
		}
	}
}

// A recording of a cluster with fields that are not known here is imported all the same, and says so.
func TestImportUnknownFields(t *testing.T) {
	inTemp(t, map[string]string{"pods.json": `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"n","resourceVersion":"5"},"spec":{"fromTheFuture":{}}}`})
	got := command(t, "import", "pods.json", "--from", "list", "-o", "pods.sim")
	if got.code != exitOK || !strings.Contains(got.stderr, `warning: Objects have fields that are not known here, and are dropped (create: a Pod has no field "spec.fromTheFuture")`) {
		t.Fatalf("exit code %d: %s", got.code, got.stderr)
	}
	if text, err := os.ReadFile("pods.sim"); err != nil || !strings.Contains(string(text), "resource pods/v1 kind=Pod scope=namespaced fields=any\n") {
		t.Errorf("%s%v", text, err)
	}
	if got := command(t, "run", "pods.sim"); got.code != exitOK {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// import says what it kept, what it left out and what could be secret; --redact all leaves nothing of it, and what it writes runs.
func TestImportRedacts(t *testing.T) {
	const object = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"n","resourceVersion":"5","managedFields":[{"manager":"m"}]},` +
		`"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"DB_PASSWORD","value":"hunter2"}],"resources":{"limits":{"cpu":"100m"}}}]}}`
	inTemp(t, map[string]string{"pods.jsonl": `{"type":"ADDED","object":` + object + `}
{"type":"BOOKMARK","object":{"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":"9"}}}
`})
	for _, tt := range []struct {
		args    string
		says    string
		warns   bool
		has     []string
		hasNone []string
	}{
		{"", "1 created, 0 updated, 0 deleted, 1 bookmarks; wrote x.sim", true, []string{"hunter2"}, []string{"managedFields"}},
		{"--keep-managed-fields", "1 bookmarks; wrote x.sim", true, []string{"managedFields"}, nil},
		{"--redact none", "1 bookmarks; wrote x.sim", true, []string{"hunter2"}, nil},
		{"--redact all", "1 bookmarks; 1 versions of objects redacted; wrote x.sim", false, []string{"n/a"}, []string{"hunter2", "100m"}},
		{"--redact all --keep-field spec.containers.image", "wrote x.sim", false, []string{`"image":"i"`}, []string{"hunter2"}},
	} {
		got := command(t, append([]string{"import", "pods.jsonl", "--from", "watch-events", "-o", "x.sim"}, strings.Fields(tt.args)...)...)
		warned := strings.Contains(got.stderr, `warning: It could be secret and is kept: the env value "DB_PASSWORD" of Pod objects ("n/a"; versions: 1). --redact all hashes it.`)
		if got.code != exitOK || !strings.Contains(got.stderr, tt.says) || warned != tt.warns || strings.Contains(got.stderr, "hunter2") {
			t.Errorf("%s: exit code %d: %s", tt.args, got.code, got.stderr)
		}
		text, err := os.ReadFile("x.sim")
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.has {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: %s is missing in\n%s", tt.args, want, text)
			}
		}
		for _, gone := range tt.hasNone {
			if strings.Contains(string(text), gone) {
				t.Errorf("%s: %s is in\n%s", tt.args, gone, text)
			}
		}
		if got := command(t, "run", "x.sim"); got.code != exitOK {
			t.Errorf("%s: it does not run: %s%s", tt.args, got.stdout, got.stderr)
		}
	}
}
