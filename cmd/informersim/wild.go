package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	gobuild "go/build"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/internal/mutation"
)

// wildFlags are the flags of `informersim wild`.
type wildFlags struct {
	shard  string
	seeds  int
	lasts  time.Duration
	traces string
}

func newWildCommand() *cobra.Command {
	f := &wildFlags{}
	c := &cobra.Command{
		Use:   "wild [PATTERN...]",
		Short: "Run released controllers under faults, and say what was found in each",
		Long: `wild runs the tests of the modules under wild/: released controllers, Kubernetes' own and others, unmodified, under the faults, crashes and
lags of simtest. docs/wild.md says what each test demands. A line for each test has its seeds, their virtual time and faults, and what was found. A test
of a known bug, listed in docs/findings.md, says with which seed it found the bug once more, and fails if it did not.

PATTERN is a part of a test's name with its module, such as kubernetes/TestJob. --for runs the tests again and again with four times as many seeds, until the
time is up.

--traces keeps the traces of what is found, a folder for each module. A failure is made simpler before, for ten seconds at most; its log and a report to
open in a browser lie beside its trace. informersim report, explain and, in the folder of the module, replay take such a trace. What is in the folder
already stays.

It needs a clone of informersim, in whose folder it is started, and the go command. Each module is built before its first
test that is meant, and not at all if none is; the first time, that downloads and compiles its controllers.

Exit codes: 0 nothing new was found; 1 a test failed; 2 bad input.`,
		Example: `  informersim wild
  informersim wild kubernetes/TestJob --seeds 500
  informersim wild attacher/ --traces found
  informersim wild --for 1h
  informersim wild --for 1h --shard 2/5            every fifth test, from the second`,
		Args: cli.Usage(cobra.ArbitraryArgs),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	c.Flags().StringVar(&f.shard, "shard", "", "run the part `I/N` of the tests only; job/N takes I from $"+jobIndex)
	c.Flags().IntVar(&f.seeds, "seeds", 0, "how many seeds each test runs (default its own number, mostly 20)")
	c.Flags().DurationVar(&f.lasts, "for", 0, "go on for this long")
	c.Flags().StringVar(&f.traces, "traces", "", "keep the traces of what is found, and their reports, in the folder `DIR`/MODULE")
	return c
}

func (f *wildFlags) run(c *cobra.Command, patterns []string) error {
	if err := cli.NotEmpty(c, "shard", "traces"); err != nil {
		return err
	}
	switch {
	case f.seeds < 0:
		return fmt.Errorf("--seeds %d: at least 1 seed has to be run", f.seeds)
	case f.lasts < 0:
		return fmt.Errorf("--for %v is negative: use a duration like 10m", f.lasts)
	}
	shard, of, err := parseShard(f.shard)
	if err != nil {
		return err
	}
	root, err := mutation.Root(".")
	if err != nil {
		return err
	}
	if f.traces != "" {
		if f.traces, err = filepath.Abs(f.traces); err == nil {
			err = os.MkdirAll(f.traces, 0o777)
		}
		if err != nil {
			return fmt.Errorf("--traces: %w", err)
		}
	}
	work, err := os.MkdirTemp("", "informersim-wild-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	ctx, cancel := c.Context(), context.CancelFunc(func() {})
	if f.lasts > 0 {
		ctx, cancel = context.WithTimeout(ctx, f.lasts)
	}
	defer cancel()
	tests, err := findWild(ctx, root, patterns)
	if err != nil {
		return f.timeIsUp(ctx, c.OutOrStdout(), err)
	}
	tests = everyNth(tests, shard, of)
	w := &wildTable{out: c.OutOrStdout()}
	w.head(tests)
	failed, err := f.rounds(ctx, w, work, tests)
	if err = f.timeIsUp(ctx, w.out, err); err != nil {
		return err
	}
	if failed > 0 {
		return broken{fmt.Sprintf("%d tests failed", failed)}
	}
	return nil
}

// timeIsUp turns the error of an end by --for into a line.
func (f *wildFlags) timeIsUp(ctx context.Context, out io.Writer, err error) error {
	if err == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	_, err = fmt.Fprintf(out, "the time of --for %v is up; what was running is not counted\n", f.lasts)
	return err
}

// rounds runs the tests once, or until the context ends.
func (f *wildFlags) rounds(ctx context.Context, w *wildTable, work string, tests []*wildTest) (failed int, err error) {
	const first, more = 20, 4
	seeds := f.seeds
	for round := 1; ; round++ {
		var again []*wildTest
		for _, t := range tests {
			if err := t.build(ctx, work); err != nil {
				return failed, err
			}
			r, err := t.run(ctx, seeds, f.traces)
			if err != nil {
				return failed, err
			}
			if err := w.row(t, r); err != nil {
				return failed, err
			}
			switch {
			case r.failed:
				failed++
			case r.seeds > 0: // of a known bug, one is enough
				again = append(again, t)
			}
		}
		if f.lasts == 0 || len(again) == 0 {
			return failed, nil
		}
		if tests = again; seeds == 0 {
			seeds = first
		}
		seeds *= more
	}
}

// wildModule is a module under wild/.
type wildModule struct {
	name, dir string
	program   string // its tests, once they are built
}

// build builds the tests, if that has not been done: they compile a release of Kubernetes of their own, which only those that are run are worth.
func (m *wildModule) build(ctx context.Context, work string) error {
	if m.program != "" {
		return nil
	}
	program := filepath.Join(work, m.name+".test")
	if _, err := output(ctx, m.dir, "go", "test", "-c", "-o", program, "."); ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		return fmt.Errorf("the tests of wild/%s do not build: %w", m.name, err)
	}
	m.program = program
	return nil
}

// tests returns the names of its tests, as go test would list them, by its source.
func (m *wildModule) tests() (names []string, err error) {
	files, err := filepath.Glob(filepath.Join(m.dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if ok, err := gobuild.Default.MatchFile(m.dir, filepath.Base(file)); err != nil || !ok {
			continue // another system's; one that cannot be read fails the build
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("the tests of wild/%s do not build: %w", m.name, err)
		}
		for _, d := range parsed.Decls {
			if f, is := d.(*ast.FuncDecl); is && isTest(f) {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names, nil
}

// isTest reports whether the go command takes a function for a test.
func isTest(f *ast.FuncDecl) bool {
	rest, is := strings.CutPrefix(f.Name.Name, "Test")
	first, _ := utf8.DecodeRuneInString(rest)
	if !is || unicode.IsLower(first) || f.Recv != nil || f.Type.TypeParams != nil || len(f.Type.Params.List) != 1 {
		return false
	}
	pointer, is := f.Type.Params.List[0].Type.(*ast.StarExpr)
	if !is || len(f.Type.Params.List[0].Names) > 1 {
		return false
	}
	switch t := pointer.X.(type) {
	case *ast.SelectorExpr:
		return t.Sel.Name == "T"
	case *ast.Ident:
		return t.Name == "T"
	}
	return false
}

// wildTest is a test of a module under wild/.
type wildTest struct {
	*wildModule
	name string
}

func (t *wildTest) String() string { return t.wildModule.name + "/" + t.name }

// findWild returns the tests of the modules under wild/ that are meant, or all.
func findWild(ctx context.Context, root string, patterns []string) ([]*wildTest, error) {
	modules, err := filepath.Glob(filepath.Join(root, "wild", "*", "go.mod"))
	if err != nil {
		return nil, err
	}
	if len(modules) == 0 {
		return nil, fmt.Errorf("there is no module under %s", filepath.Join(root, "wild"))
	}
	var all []*wildTest
	for _, file := range modules {
		dir := filepath.Dir(file)
		m := &wildModule{name: filepath.Base(dir), dir: dir}
		names, err := m.tests()
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if t := (&wildTest{m, name}); means(patterns, t.String()) {
				all = append(all, t)
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no test is meant by %q: a part of a name like kubernetes/TestJob, see docs/wild.md", patterns)
	}
	return all, ctx.Err()
}

// means reports whether one of the patterns is a part of a name, or there is none.
func means(patterns []string, name string) bool {
	for _, p := range patterns {
		if strings.Contains(name, p) {
			return true
		}
	}
	return len(patterns) == 0
}

// everyNth returns the tests of a part.
func everyNth(tests []*wildTest, shard, of uint64) (part []*wildTest) {
	for i, t := range tests {
		if uint64(i)%of == shard-1 {
			part = append(part, t)
		}
	}
	return part
}

// run runs a test, with its own number of seeds if seeds is 0, and keeps traces below a folder unless that is "".
func (t *wildTest) run(ctx context.Context, seeds int, traces string) (*wildResult, error) {
	args := []string{"-test.v", "-test.timeout=0", "-test.run", "^" + t.name + "$"}
	if seeds > 0 {
		args = append(args, fmt.Sprintf("-simtest.seeds=%d", seeds))
	}
	if traces != "" {
		args = append(args, "-simtest.traces="+filepath.Join(traces, t.wildModule.name))
	}
	text, err := output(ctx, t.dir, t.program, args...)
	if ctx.Err() != nil {
		forgetCut(text)
		return nil, ctx.Err()
	}
	r := readWild(text)
	if r.failed != (err != nil) {
		return nil, fmt.Errorf("%s: %w", t, err) // it did not come to a verdict
	}
	return r, nil
}

// wildCut is where the engine of a test that dies says which trace it has kept (world/flight.go).
var wildCut = regexp.MustCompile(`(?m)^  the trace so far is in (.+)\.trace\.jsonl$`)

// forgetCut removes the trace of a run that only the end of the time, or Ctrl-C, has cut off: nothing was found in it, and the next test would begin with it.
func forgetCut(text string) {
	for _, m := range wildCut.FindAllStringSubmatch(text, -1) {
		for _, suffix := range []string{".trace.jsonl", ".html", ".log"} {
			_ = os.Remove(m[1] + suffix) // it may have none
		}
	}
}

// output runs a program in a folder and returns what it says.
func output(ctx context.Context, dir, program string, args ...string) (string, error) {
	var both bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &both, &both
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, both.String())
	}
	return both.String(), err
}
