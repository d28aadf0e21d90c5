package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/informersim/informersim/cmd/internal/cli"
)

// onlyFiles checks that the current folder has these files, with these contents, and nothing else.
func onlyFiles(t *testing.T, files map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, known := files[e.Name()]
		if got, err := os.ReadFile(e.Name()); !known || err != nil || string(got) != text {
			t.Errorf("%s is %.80q (%v), want %.80q", e.Name(), got, err, text)
		}
	}
	if len(entries) != len(files) {
		t.Errorf("%d files, want %d", len(entries), len(files))
	}
}

const listed = `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"b","uid":"u","resourceVersion":"3"}}]}`

// A command refuses to write where something would be lost, and leaves everything as it was.
func TestNothingIsOverwritten(t *testing.T) {
	files := map[string]string{
		"a.sim": small, "hard.sim": small, "other.sim": small + "# mine\n", "notes.txt": "# notes\n", "mix.yaml": "rates: {watch-eof: 0.1}\n", "r.json": listed,
		"fails.sim": small + "\ndelete pods default/b\n", "empty.sim": "# nothing\n", "empty.yaml": "name: x\n",
		"pom.xml": "<?xml version=\"1.0\"?>\n<project/>\n",
	}
	inTemp(t, files)
	if err := errors.Join(os.Remove("hard.sim"), os.Link("a.sim", "hard.sim")); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"run a.sim --trace a.sim":                                 "--trace: a.sim is the same file as the input a.sim",
		"run a.sim --trace ./a.sim --force":                       "is the same file as the input",
		"run a.sim --trace hard.sim --force":                      "is the same file as the input",
		"run a.sim --rewrite --trace a.sim":                       "is the same file as the input",
		"run a.sim --fault-mix ./mix.yaml --trace mix.yaml":       "is the same file as the input ./mix.yaml",
		"run a.sim --trace other.sim":                             "--trace: other.sim exists and is not a trace; name another file, or overwrite it with --force",
		"run --trace notes.txt":                                   "notes.txt exists and is not a trace",
		"import r.json --from list -o r.json":                     "-o: r.json is the same file as the input r.json",
		"import r.json --from list -o r.json --force":             "is the same file as the input",
		"import r.json --from list -o notes.txt":                  "-o: notes.txt exists and is not a scenario",
		"run a.sim --junit pom.xml":                               "--junit: pom.xml exists and is not a JUnit report; name another file, or overwrite it with --force",
		"verify a.sim --junit pom.xml":                            "--junit: pom.xml exists and is not a JUnit report; name another file, or move it away",
		"fuzz --seeds 1 --junit pom.xml":                          "--junit: pom.xml exists and is not a JUnit report; name another file, or move it away",
		"fuzz --seeds 1 --report pom.xml":                         "--report: pom.xml exists and is not a report; name another file, or move it away",
		"diff a.sim --keep a.sim":                                 "--keep: a.sim is the same file as the input",
		"diff --keep notes.txt":                                   "--keep: notes.txt exists and is not a scenario",
		"run fails.sim --rewrite":                                 "delete pods default/b",
		"run nothing.sim --trace new":                             "nothing.sim: there is no such file",
		"run a.sim --strategy fifo --fault-mix storm --trace new": "the strategy fifo never picks a fault",
		"run empty.sim":                                           "empty.sim: there is no command in it",
		"run a.sim --fault-mix empty.yaml":                        "empty.yaml: there are no rates in it",
		"run a.sim --fault-mix=":                                  "--fault-mix is given without a value",
		"run a.sim --seed=":                                       "--seed is given without a value",
		"run a.sim --trace=":                                      "--trace is given without a value",
		"diff --commands -5":                                      "--commands -5: a generated scenario has 1 to 10000 commands",
		"diff --seeds=":                                           "--seeds is given without a value",
		"import r.json --from list --output=":                     "--output is given without a value",
	} {
		if got := command(t, strings.Fields(args)...); got.code != exitBadInput || !strings.Contains(got.stderr, want) || got.stdout != "" {
			t.Errorf("%s: %+v, want %q", args, got, want)
		}
	}
	onlyFiles(t, files)
}

// What is of the right kind is replaced, and anything with --force.
func TestOverwrites(t *testing.T) {
	inTemp(t, map[string]string{"a.sim": small, "old.sim": small, "notes.txt": "notes\n", "r.json": listed, "empty": "", "pom.xml": "<?xml version=\"1.0\"?>\n<project/>\n"})
	for _, args := range []string{
		"run a.sim --trace t", "run a.sim --seed 2 --trace t", "run a.sim --trace empty", "run a.sim --trace notes.txt --force",
		"run a.sim --junit j.xml", "run a.sim --junit j.xml", "fuzz --seeds 1 --junit j.xml", "run a.sim --junit pom.xml --force", "diff a.sim --junit j.xml",
		"import r.json --from list -o old.sim", "import r.json --from list -o notes.txt --force", "run a.sim --trace /dev/null",
	} {
		if got := command(t, strings.Fields(args)...); got.code != exitOK {
			t.Errorf("%s: %+v", args, got)
		}
	}
	if got := command(t, "run", "t"); got.code != exitBadInput || !strings.Contains(got.stderr, "t is a trace, not a scenario; to see its run again, use replay: informersim replay t") {
		t.Errorf("run of a trace: %+v", got)
	}
}

// An output that is full ends the command with an error.
func TestFullOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	files := map[string]string{"a.sim": small, "wrong.sim": strings.ReplaceAll(small, "rv=1", "rv=2"), "r.json": listed}
	inTemp(t, files)
	for _, args := range []string{"run a.sim", "run a.sim --seed 1..100000 --json", "version", "--help", "import r.json --from list", "diff a.sim", "run a.sim --json"} {
		var stderr bytes.Buffer
		if code := run(t.Context(), strings.Fields(args), full, &stderr); code != cli.BadInput || !strings.Contains(stderr.String(), "no space left on device") {
			t.Errorf("%s: exit code %d: %s", args, code, stderr.String())
		}
	}
	if got := command(t, "run", "--seed", "1", "--fault-mix", "storm", "--trace", "/dev/full"); got.code != exitBadInput || !strings.Contains(got.stderr, "--trace: writing /dev/full: no space left on device") {
		t.Errorf("--trace /dev/full: %+v", got)
	}
	// A trace that cannot be read again does not hide the verdict.
	if got := command(t, "run", "wrong.sim", "--trace", "/dev/null"); got.code != exitBroken || strings.Contains(got.stdout, "informersim replay") {
		t.Errorf("--trace /dev/null: %+v", got)
	}
	onlyFiles(t, files)
}

// A finding is printed even if the name of its trace is taken, by a file that is not a trace.
func TestFindingWithoutTrace(t *testing.T) {
	files := map[string]string{"wrong.sim": strings.ReplaceAll(small, "rv=1", "rv=2"), "wrong-seed1.trace.jsonl": "mine\n"}
	inTemp(t, files)
	got := command(t, "run", "wrong.sim")
	if got.code != exitBroken || !strings.Contains(got.stderr, "warning: no trace is kept: --trace: wrong-seed1.trace.jsonl exists and is not a trace") || !strings.Contains(got.stdout, "FAIL  ") || strings.Contains(got.stdout, "informersim replay") {
		t.Errorf("%+v", got)
	}
	onlyFiles(t, files)
}

// One bad trace does not keep the others from being replayed.
func TestReplayGoesOn(t *testing.T) {
	inTemp(t, map[string]string{"small.sim": small, "bad": "x\n"})
	traced(t)
	got := command(t, "replay", "good.trace.jsonl", "bad", "nothing", "./good.trace.jsonl")
	if got.code != exitBadInput || strings.Count(got.stdout, ": same run: ") != 2 || !strings.Contains(got.stderr, "error: bad:1: this is not a trace") || !strings.Contains(got.stderr, "nothing: there is no such file") {
		t.Errorf("%+v", got)
	}
}

// A mistake in a line of megabytes does not print it.
func TestErrorsAreShort(t *testing.T) {
	oneGoroutine(t)
	long := strings.Repeat("x", 3<<20)
	inTemp(t, map[string]string{
		"word.sim": long + "\n", "arg.sim": "resource pods\nadvance " + long + "\n", "key.sim": "resource pods\ncreate pods default/a " + long + "=1\n",
		"name.sim": "resource pods\ndelete pods default/" + long + "\n", "informer.sim": "resource pods\ninformer i1 " + long + "\n",
		"mix.yaml": "rates: {" + long + ": 1}\n",
	})
	for _, args := range []string{"word.sim", "arg.sim", "key.sim", "name.sim", "informer.sim", "word.sim --fault-mix ./mix.yaml"} {
		if got := command(t, append([]string{"run"}, strings.Fields(args)...)...); got.code != exitBadInput || len(got.stderr) > 1500 {
			t.Errorf("%s: exit code %d, %d bytes: %.300s", args, got.code, len(got.stderr), got.stderr)
		}
	}
}
