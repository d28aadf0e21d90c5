package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/informersim/informersim/internal/garbage"
)

// asCommand makes the test binary act as the command, so that a test that needs a second process can start itself.
const asCommand = "INFORMERSIM_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) == "crash" {
		subjectKinds = append(subjectKinds, crashing)
	}
	if os.Getenv(asCommand) == "deadlocks" {
		subjectKinds = append(subjectKinds, deadlocking, deadlockingAll)
	}
	if os.Getenv(asCommand) == "flawed" {
		subjectKinds = append(subjectKinds, flawed(), flawedElsewhere())
	}
	if os.Getenv(asCommand) != "" {
		dieAtSeed()
		main()
	}
	garbage.CollectSeldom()
	os.Setenv(asCommand, "1") // for the children of what the tests run
	os.Exit(m.Run())
}

// outcome is the result of a command.
type outcome struct {
	code           int
	stdout, stderr string
}

// command runs the command in this process.
func command(t *testing.T, args ...string) outcome {
	t.Helper()
	return commandIn(t.Context(), args...)
}

func commandIn(ctx context.Context, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	code := run(ctx, args, &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

// oneGoroutine skips a test under -short, as the race detector runs it: it makes runs one after the other, which have no goroutine
// and take ten times as long there.
func oneGoroutine(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("its runs are made one after the other, in one goroutine; -short leaves them out")
	}
}

// inTemp changes to a new folder and creates files in it.
func inTemp(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

const small = "resource pods\ncreate pods default/a\ninformer i1 pods handlers=h1\nsettle\nlog h1\n----\nh1 add default/a rv=1 initial\n"

// Bad input ends with exit code 2 and says what was wrong, where, and what to do; it never panics.
func TestBadInput(t *testing.T) {
	inTemp(t, map[string]string{
		"good.sim":     small,
		"unknown.sim":  "settle\nsetle\n",
		"duration.sim": "resource pods\nadvance 5x\n",
		"quote.sim":    "resource \"pods\ninformer i1 pods\n",
		"payload.sim":  "resource pods\ncreate pods default/a {\"metadata\":\n  {\"labels\": {}\n",
		"output.sim":   "settle\n----\n----\nnever ended\n",
		"binary.sim":   "resource p\x00ds\n",
		"latin.sim":    "resource p\xf6ds\n",
		"expects.sim":  small + "\nexpect violation WorkDrains,IndexerConverge\n",
		"fails.sim":    small + "\ndelete pods default/b\n",
		"mix.yaml":     "rates: {watch-eoff: 1}\n",
		"rate.yaml":    "rates: {watch-eof: 7}\n",
		"field.yaml":   "rate: {watch-eof: 0.1}\n",
		"broken.yaml":  "rates: [\n",
		"list.json":    `{"kind":"List"`,
		"folder/x":     "",
	})
	huge(t, "huge.sim")
	for _, tt := range []struct {
		args string
		want string // part of the error message
	}{
		{"rnu", `error: there is no command "rnu"; did you mean "run"?` + "\nsee informersim --help"},
		{"xyzzy", `error: there is no command "xyzzy"`},
		{"run --sed 1", "error: unknown flag: --sed; did you mean --seed?\nsee informersim run --help"},
		{"run --seeds 1..3", "error: unknown flag: --seeds; did you mean --seed?\nsee informersim run --help"},
		{"fuzz --seed 3", "error: unknown flag: --seed; did you mean --seeds?\n"},
		{"verify --mix storm", "error: unknown flag: --mix; did you mean --fault-mix?\n"},
		{"verify --color", "error: unknown flag: --color\n"},
		{"version --child", "error: unknown flag: --child\n"},
		{"run -x", "error: unknown shorthand flag: 'x' in -x\n"},
		{"-- run", "error: \"run\" is a command, which comes before flags and --: informersim run\nsee informersim --help"},
		{"run a.sim b.sim", "error: run was given 2 arguments; usage: informersim run [FILE]\nsee informersim run --help"},
		{"run unknown.sim", `error: unknown.sim:2:1: unknown command "setle"; did you mean "settle"?`},
		{"run duration.sim", `error: duration.sim:2:9: the argument: "5x" is not a duration; write it like 250ms, 2s or 1m30s`},
		{"run quote.sim", "error: quote.sim:1:10: the quoted string is not terminated"},
		{"run payload.sim", "error: payload.sim:2:23: the JSON payload is not terminated; close the {"},
		{"run output.sim", "error: output.sim:2:1: the fenced output is not terminated"},
		{"run binary.sim", "error: binary.sim:1:11: the script has a NUL byte"},
		{"run latin.sim", "error: latin.sim:1:11: byte 0xf6 is not valid UTF-8; save the script as UTF-8"},
		{"run fails.sim", `error: fails.sim:9:1: delete pods default/b: pods "b" not found`},
		{"run expects.sim", `error: expects.sim:9:1: expect violation: there is no property "IndexerConverge"; did you mean "IndexerConverges"?`},
		{"run huge.sim", "error: huge.sim: it is 100 MiB; scripts are limited to 32 MiB; split it"},
		{"run folder", "error: folder: it is a directory; name a *.sim file in it"},
		{"run nothing.sim", "error: nothing.sim: there is no such file; check the path"},
		{"run good.sim --seed x", `error: --seed "x" is not a seed: write a number like 7, or a range like 1..200`},
		{"run good.sim --seed 1..", `error: --seed "1.." is not a seed`},
		{"run good.sim --seed -1", `error: --seed "-1" is not a seed`},
		{"run good.sim --seed 5..1", "error: --seed 5..1 is an empty range: the first seed is greater than the last"},
		{"run good.sim --strategy randm", `error: there is no strategy "randm"; did you mean "random"?`},
		{"run good.sim --strategy fifo --fault-mix storm", "error: the strategy fifo never picks a fault"},
		{"run good.sim --fault-mix sturm", `error: there is no fault mix "sturm": did you mean "storm"?`},
		{"run good.sim --fault-mix tornado", `error: there is no fault mix "tornado": want one of none, light, default, storm, edges, or a file`},
		{"run good.sim --fault-mix nothing.yaml", "error: --fault-mix: open nothing.yaml"},
		{"run good.sim --fault-mix mix.yaml", `there is no fault "watch-eoff": did you mean "watch-eof"?`},
		{"run good.sim --fault-mix rate.yaml", "watch-eof is 7: a rate is a probability between 0 and 1"},
		{"run good.sim --fault-mix broken.yaml", "error: broken.yaml: fault mix: "},
		{"run good.sim --fault-mix field.yaml", `error: field.yaml: fault mix: unknown field "rate"; write it like {name: mine, rates: {`},
		{"run good.sim --subject stak", `error: there is no subject "stak"; did you mean "stack"?`},
		{"run good.sim --subject client-go@builtin", "client-go@built-in is this program's own client-go"},
		{"run good.sim --trace folder", "error: --trace: "},
		{"run --rewrite", "error: --rewrite needs a FILE to rewrite"},
		{"run good.sim --rewrite --seed 3", "error: --rewrite is for the transcript: leave out --seed, --strategy and --fault-mix"},
		{"run good.sim --rewrite --fault-mix storm", "error: --rewrite is for the transcript"},
		{"run good.sim --rewrite --strategy random", "error: --rewrite is for the transcript"},
		{"replay", "error: replay was given 0 arguments; usage: informersim replay TRACE...\nsee informersim replay --help"},
		{"replay nothing.jsonl", "error: nothing.jsonl: there is no such file; check the path"},
		{"replay nothing.jsonl --step 3", "nothing.jsonl: there is no such file; check the path"},
		{"explain nothing.jsonl", "error: nothing.jsonl: there is no such file; check the path"},
		{"report nothing.jsonl", "error: nothing.jsonl: there is no such file; check the path"},
		{"shrink nothing.jsonl", "error: nothing.jsonl: there is no such file; check the path"},
		{"verify nothing.jsonl", "error: nothing.jsonl: there is no such file; check the path"},
		{"bisect nothing.jsonl", "error: nothing.jsonl: there is no such file; check the path"},
		{"replay folder", "error: folder: it is a directory; name a trace in it"},
		{"replay folder --step 3", "folder: it is a directory; name a trace in it"},
		{"explain folder", "error: folder: it is a directory; name a trace in it"},
		{"replay good.sim", "error: good.sim:1: this is not a trace"},
		{"import list.json", `error: required flag(s) "from" not set`},
		{"import list.json --from lists", "error: --from: "},
		{"import list.json --from list", "error: list.json"},
		{"import list.json --from list --redact some", `error: --redact "some": write none, secrets or all`},
		{"import list.json --from list --redact all --keep-secrets", "error: --redact all and --keep-secrets exclude each other"},
		{"import list.json --from list --keep-field spec.x", "error: --keep-field is for --redact all"},
		{"import nothing.json --from list", "error: nothing.json: the recording cannot be opened: no such file or directory; check the path"},
		{"run -", "error: -: there is no such file; for standard input, name /dev/stdin"},
		{"replay -", "error: -: there is no such file; for standard input, name /dev/stdin"},
		{"import - --from list", "error: -: the recording cannot be opened: no such file or directory; for standard input, name /dev/stdin"},
		{"import folder --from list", "error: folder: it is a directory"},
		{"version 3", `error: unknown command "3" for "informersim version"`},
	} {
		t.Run(tt.args, func(t *testing.T) {
			got := command(t, strings.Fields(tt.args)...)
			if got.code != exitBadInput {
				t.Errorf("exit code %d, want %d", got.code, exitBadInput)
			}
			if !strings.Contains(got.stderr, tt.want) || !strings.HasPrefix(got.stderr, "error: ") || !strings.HasSuffix(got.stderr, "\n") {
				t.Errorf("the error is\n%s\nwant\n%s", got.stderr, tt.want)
			}
			if got.stdout != "" {
				t.Errorf("it prints %q", got.stdout)
			}
		})
	}
}

// huge creates a sparse file of 100 MB.
func huge(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(100 << 20); err != nil {
		t.Fatal(err)
	}
}

// Every command has help with examples, and names its exit codes.
func TestHelp(t *testing.T) {
	for _, tt := range []struct {
		args  string
		wants []string
	}{
		{"", []string{"run", "replay", "import", "version", "Exit codes: 0 fine, 1 a property broke, 2 bad input, 3 not deterministic"}},
		{"--help", []string{"Examples:"}},
		{"run --help", []string{"Examples:", "--fault-mix", "--strategy", "cluster [replicas=1..5]", "none, light, default, storm, edges"}},
		{"replay --help", []string{"Examples:", "Exit codes:"}},
		{"import --help", []string{"Examples:", "kubectl get", "--keep-secrets", "--redact all", "--keep-managed-fields", "--keep-field"}},
		{"version --help", []string{"Examples:"}},
		{"version", []string{"informersim ", "trace format 3", "client-go "}},
		{"--version", []string{"informersim ", "trace format 3", "client-go "}},
	} {
		got := command(t, strings.Fields(tt.args)...)
		if got.code != exitOK || got.stderr != "" {
			t.Errorf("%s: exit code %d, %s", tt.args, got.code, got.stderr)
		}
		for _, want := range tt.wants {
			if !strings.Contains(got.stdout, want) {
				t.Errorf("%s: %q is missing in\n%s", tt.args, want, got.stdout)
			}
		}
	}
}

// The files named in examples exist.
func TestHelpNamesFilesThatExist(t *testing.T) {
	found := 0
	for _, c := range newRoot(nil).Commands() {
		for _, path := range regexp.MustCompile(`scenarios/testdata/\S+\.sim`).FindAllString(c.Example+c.Long, -1) {
			found++
			if files, err := filepath.Glob(filepath.Join("..", "..", path)); err != nil || len(files) == 0 {
				t.Errorf("%s: there is no %s (%v)", c.Name(), path, err)
			}
		}
	}
	if found == 0 {
		t.Error("no example names a scenario of the repository")
	}
}

// The help lists each command once.
func TestCommandsHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range newRoot(nil).Commands() {
		if seen[c.Name()] {
			t.Errorf("there are two commands %s", c.Name())
		}
		seen[c.Name()] = true
	}
}
