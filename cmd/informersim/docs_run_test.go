package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// elsewhere says of the commands that are not run here why not; each has tests of its own.
var elsewhere = map[string]string{
	"serve": "it starts a server, which has to be built", "assets": "it builds programs", "overlay": "it compiles the standard library", "go": "it becomes the go command",
	"museum": "it builds programs", "mutants": "it builds programs", "wild": "it builds programs", "bisect": "it builds guests",
	"tui": "it needs a terminal", "world": "a Go test starts it",
}

// notHere are lines that stand for others or are not whole, or need what no test has: releases of client-go, whose guests are built, folders of
// a container, and a seed that fails.
var notHere = regexp.MustCompile(`\b(TRACE|FILE|DIR|NAME|PATTERN)\b|^report --format|client-go@| /|…|^shrink my\.sim`)

// aside begins what is said beside a command.
var aside = regexp.MustCompile(`\s+#|\s{3,}\w`)

// passing is the scenario my.sim of the pages, and failing what breaks a property, in a run of more steps than any page asks for.
const (
	passing = small + "\ncreate pods default/b\nfault i1 watch=410\nadvance 5s\nexpect i1 converged\n"
	failing = "resource pods\ninformer i1 pods handlers=h1\nsettle\ncreate pods default/b\nsettle\nfault i1 watch=drop\ncreate pods default/a\nadvance 1m\n"
)

// Each command of the pages, and of the examples of --help, is run as it is written, in a folder with the files that it names. One that goes on
// for long is interrupted, as by Ctrl-C. It is no bad input and no defect, and the file that its comment speaks of is there.
func TestCommandsOfPagesRun(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every command of the pages")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	files := fixtures(t)
	lines := examples(newRoot(nil))
	for _, pattern := range []string{"README.md", "docs/*.md"} {
		pages, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) { // linesOf leaves out prompts
				if command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ informersim "); ok {
					lines = append(lines, command)
				}
			}
			lines = append(lines, linesOf(string(text))...)
		}
	}
	for n, line := range lines {
		if at := aside.FindStringIndex(line); at != nil && !written.MatchString(line) {
			lines[n] = line[:at[0]]
		}
	}
	slices.Sort(lines)
	ran := map[string]bool{}
	for _, line := range slices.Compact(lines) {
		name, _, _ := strings.Cut(line, " ")
		c, _, err := newRoot(nil).Find([]string{name})
		if err != nil || c.Name() != name || elsewhere[name] != "" || notHere.MatchString(line) || !strings.Contains(line, " ") && name != "run" && name != "fuzz" && name != "catalog" {
			continue
		}
		ran[name] = true
		t.Run(line, func(t *testing.T) { runsAsWritten(t, root, line, files) })
	}
	if len(ran) < 10 {
		t.Errorf("only these commands are found: %v", ran)
	}
}

// examples are the commands of the examples in the help of a command and its subcommands.
func examples(c *cobra.Command) []string {
	all := linesOf("```\n" + c.Example + "\n```\n")
	for _, sub := range c.Commands() {
		all = append(all, examples(sub)...)
	}
	return all
}

// campaigns are the folders of campaigns that lines name; the first are those of shards.
var campaigns = []string{"shard1", "shard2", "shard3", "shards/a", "results"}

// fixed is what lines are given that takes long to make.
type fixed struct {
	fails, passes string // traces
	dir           string // has the campaigns
}

func fixtures(t *testing.T) (f fixed) {
	inTemp(t, map[string]string{"my.sim": failing, "good.sim": passing})
	for n, out := range campaigns {
		args := []string{"fuzz", "--seeds", "1..6", "--out", out}
		if n < 3 {
			args = append(args, "--shard", string(rune('1'+n))+"/3")
		}
		if got := command(t, args...); got.code != exitOK {
			t.Fatalf("%v: exit code %d\n%s", args, got.code, got.stderr)
		}
	}
	for name, trace := range map[string]*string{"my.sim": &f.fails, "good.sim": &f.passes} { // order: each is for itself
		command(t, "run", name, "--trace", "x.trace.jsonl", "--force")
		data, err := os.ReadFile("x.trace.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		*trace = string(data)
	}
	var err error
	if f.dir, err = os.Getwd(); err != nil {
		t.Fatal(err)
	}
	return f
}

// folder fills the current folder with what a line may name.
func folder(t *testing.T, root, line string, f fixed) {
	inTemp(t, map[string]string{
		"my.sim": passing, "my/one.sim": passing, "my/two.sim": small, "small.sim": "resource pods\ninformer i1 pods\ncreate pods default/a\n", "gap.sim": passing, "pods.sim": passing,
		"my-seed7.trace.jsonl": f.fails, "builtin-seed7.trace.jsonl": f.fails, "finding.trace.jsonl": f.fails, "run.trace.jsonl": f.fails,
		"gap-seed1.trace.jsonl": f.fails, "traces/a.trace.jsonl": f.fails, "traces/b.trace.jsonl": f.passes,
		"one-fault.yaml": "name: one\nrates: {watch-410: 0.1}\n",
	})
	if strings.HasPrefix(line, "import ") {
		for _, file := range [][2]string{{"pods-audit.jsonl", "audit.log"}, {"widgets-watch.jsonl", "pods.jsonl"}} {
			if err := os.Symlink(filepath.Join(root, "scenarios/recording/testdata", file[0]), file[1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if strings.HasPrefix(line, "merge ") || line == "report results" {
		for _, out := range campaigns {
			if err := os.CopyFS(out, os.DirFS(filepath.Join(f.dir, out))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"scenarios", "docs"} { // some lines are for a clone
		if err := os.Symlink(filepath.Join(root, name), name); err != nil {
			t.Fatal(err)
		}
	}
}

// written is what a comment says of the file that a command makes.
var written = regexp.MustCompile(`# writes ([\w-]+\.\w+)`)

func runsAsWritten(t *testing.T, root, line string, f fixed) {
	folder(t, root, line, f)
	text := line
	if at := notOurs.FindStringIndex(line); at != nil {
		text = line[:at[0]]
	}
	var args []string
	for _, word := range wordOf.FindAllString(text, -1) {
		word = strings.Trim(word, `"'`)
		if files, err := filepath.Glob(word); err == nil && strings.Contains(word, "*") && len(files) > 0 {
			args = append(args, files...)
			continue
		}
		args = append(args, word)
	}
	ctx, cancel := context.WithCancel(t.Context())
	patience := 150 * time.Millisecond
	if written.MatchString(line) {
		patience *= 2 // for the file
	}
	defer time.AfterFunc(patience, cancel).Stop()
	got := commandIn(ctx, args...)
	if got.code == exitBadInput || got.code == exitDefect || got.code == exitNotDeterministic {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if m := written.FindStringSubmatch(line); m != nil {
		if _, err := os.Stat(m[1]); err != nil {
			t.Errorf("it did not write %s: %v\n%s%s", m[1], err, got.stdout, got.stderr)
		}
	}
}

// wordOf is a word of a command line, with its quotes.
var wordOf = regexp.MustCompile(`"[^"]*"|'[^']*'|\S+`)

// What scenarios.md shows of the command's words is what it prints.
func TestScenariosPageShowsOutput(t *testing.T) {
	text := page(t, "scenarios.md")
	inTemp(t, map[string]string{
		"my.sim":    "resource pods\ninformer i1 pods\nfault i1 watch=eoff\n",
		"calm.sim":  "resource pods\ninformer i1 pods\nsettle\nfault i1 list=500\n",
		"fails.sim": "resource pods\ncreate pods default/a {\"metadata\": {\"labels\": {\"x\": \"y\"}}}\ninformer i1 pods transform=fail:x\nadvance 10s\n",
	})
	for _, show := range []struct{ file, begins string }{{"my.sim", "my.sim:"}, {"fails.sim", "the transform of i1 fails"}, {"calm.sim", "calm.sim:4:1"}} {
		got := command(t, "run", show.file)
		at := strings.Index(got.stdout+got.stderr, show.begins)
		if at < 0 {
			t.Errorf("%s: nothing begins with %q:\n%s%s", show.file, show.begins, got.stdout, got.stderr)
			continue
		}
		if line, _, _ := strings.Cut((got.stdout + got.stderr)[at:], "\n"); !strings.Contains(text, line) {
			t.Errorf("scenarios.md does not show what is printed: %s", line)
		}
	}
}
