package mutation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// controllers are the tests of Kubernetes' own controllers.
var controllers = target{
	module: "wild/kubernetes", mutants: "wild/kubernetes/mutants", pkg: ".", test: true,
	changed: []string{"k8s.io/kubernetes", "k8s.io/endpointslice"},
}

// OpenControllers prepares the clone that the folder from lies in for mutants of controllers. What it builds is in dir.
func OpenControllers(ctx context.Context, from, dir string) (*Tree, error) {
	t, err := openTree(ctx, from, dir, controllers)
	if err != nil {
		return nil, err
	}
	t.base = []*Mutant{judge}
	return t, nil
}

// Trial says how far to look for a mutant of a controller.
type Trial struct {
	// Seeds is how many runs are made at most.
	Seeds int
	// Timeout is how long one run may take, in real time, in the mean of all.
	Timeout time.Duration
}

// A Tried is what became of a mutant of a controller.
type Tried struct {
	Mutant, Defect, Test string
	Breaks               []string
	Survives             string // the reason that its file gives
	// Alone is what was found although the test's own invariants were not judged, nil for nothing.
	Alone *Broken
	// With is what was found with them, where nothing was found without; nil for nothing.
	With *Broken
	// Error says why it could not be tried: it is stale, does not compile, or has no verdict.
	Error string
}

// Broken is how a test of a controller failed.
type Broken struct {
	Seed uint64
	// Property is the property that broke, or what else ended the run, in words.
	Property string
	Message  string
	Seconds  float64 // since the test began
}

// ready reports whether something needs no invariant of the test: its name is that of a property, or it is the end of the process.
func (b *Broken) ready() bool {
	return b.Property == detected || b.Property == ended || b.Property == spins || propertyName.MatchString(b.Property) && b.Property != bodyFailed
}

// What ends a run without a property that breaks.
const (
	detected   = "the mutation detector"
	ended      = "the end of the process"
	spins      = "a hot loop" // as simtest says of a goroutine that never waits
	bodyFailed = "TestBody"   // what simtest calls a failure of the test's body
)

// Failed reports whether something is to be done: the mutant could not be tried, nothing finds it, or something does although its file says that nothing does.
func (r *Tried) Failed() bool { return r.Error != "" || (r.Alone != nil) == (r.Survives != "") }

// TryControllers tries mutants of controllers, one at a time since each run uses a processor and more, and calls report with each result.
func (t *Tree) TryControllers(ctx context.Context, mutants []*Mutant, jobs int, trial Trial, report func(*Tried) error) error {
	engine := filepath.Join(t.dir, "bin", "informersim-apiserver")
	if _, err := t.goCommandIn(ctx, t.root, "build", "-o", engine, "./cmd/informersim-apiserver"); err != nil {
		return fmt.Errorf("the engine does not build: %w", err)
	}
	programs, problems, err := t.Build(ctx, mutants)
	if err != nil {
		return err
	}
	return InOrder(ctx, mutants, jobs, func(ctx context.Context, m *Mutant) (*Tried, error) {
		r := &Tried{Mutant: m.Name, Defect: m.Defect, Test: m.Test, Breaks: m.Breaks, Survives: m.Survives}
		if problem := problems[m]; problem != nil {
			r.Error = problem.Error()
			return r, nil
		}
		x := controllerTest{program: programs[m], unchanged: t.Unchanged(), name: m.Test, engine: engine, dir: filepath.Join(t.dir, "runs", m.Name)}
		own := trial
		own.Seeds = max(own.Seeds, m.Seeds)
		return r, x.try(ctx, r, own)
	}, report)
}

// controllerTest is a test that runs a controller with a mutant.
type controllerTest struct {
	program, unchanged Program
	name               string
	engine             string
	dir                string // for what its runs leave
}

// try looks for a mutant, first by what needs no knowledge of the controller.
func (x *controllerTest) try(ctx context.Context, r *Tried, trial Trial) (err error) {
	if r.Alone, r.Error, err = x.search(ctx, true, trial); r.Alone == nil && r.Error == "" && err == nil {
		r.With, r.Error, err = x.search(ctx, false, trial)
	}
	return err
}

// search makes runs until something is found that is not found without the mutant: then it would show nothing. Where the test's invariants are ignored, a failure of its body is
// not what is looked for.
func (x *controllerTest) search(ctx context.Context, ignored bool, trial Trial) (found *Broken, problem string, err error) {
	limit := time.Duration(trial.Seeds) * trial.Timeout
	seeds := fmt.Sprintf("-simtest.seeds=%d", trial.Seeds)
	for next := uint64(1); next <= uint64(trial.Seeds); {
		found, problem, err := x.run(ctx, x.program, ignored, limit, seeds)
		switch {
		case err != nil || problem != "":
			return nil, problem, err
		case found == nil && next == 1:
			return nil, "", nil // of all seeds
		case found != nil && (found.ready() || !ignored):
			same, problem, err := x.run(ctx, x.unchanged, ignored, limit, fmt.Sprintf("-simtest.seed=%d", found.Seed))
			switch {
			case err != nil:
				return nil, "", err
			case problem != "":
				return found, "without the mutant, " + problem, nil
			case same == nil:
				return found, "", nil
			}
		}
		if found != nil {
			next = found.Seed
		}
		next++
		seeds = fmt.Sprintf("-simtest.seed=%d", next)
	}
	return nil, "", nil
}

// run runs the test, in a folder of its own, where nothing is from an earlier run.
func (x *controllerTest) run(ctx context.Context, p Program, ignored bool, limit time.Duration, seeds string) (found *Broken, problem string, err error) {
	if err := errors.Join(os.RemoveAll(x.dir), os.MkdirAll(x.dir, 0o755)); err != nil {
		return nil, "", err
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(limited, p.File, "-test.run", "^"+x.name+"$", "-test.v", "-test.timeout=0", "-simtest.shrink=-1s", seeds)
	cmd.Dir = x.dir
	invariants := ""
	if ignored {
		invariants = invariantsIgnored
	}
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", activeEnv, p.number), invariantsEnv+"="+invariants, "INFORMERSIM="+x.engine)
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	started := time.Now()
	failed := cmd.Run() != nil
	if ctx.Err() != nil {
		return nil, "", ctx.Err()
	}
	if limited.Err() != nil {
		return nil, fmt.Sprintf("%s did not end within %v", x.name, limit), nil
	}
	if found, problem = outcomeOf(both.String(), x.name, failed); found != nil {
		found.Seconds = time.Since(started).Seconds()
	}
	return found, problem, os.RemoveAll(x.dir)
}

var (
	ranTest     = regexp.MustCompile(`(?m)^--- (?:PASS|FAIL): (\S+) `)
	failLine    = regexp.MustCompile(`(?m)^\s*FAIL  (.+?)(?: at step \d+ \(.*\))?$`)
	seedLine    = regexp.MustCompile(`-simtest\.seed=(\d+)`)
	diedLine    = regexp.MustCompile(`simtest: the process died during a run: .*, seed (\d+)`)
	changedLine = regexp.MustCompile(`(?m)^panic: cache .+ modified`)
	panicLine   = regexp.MustCompile(`(?m)^(?:panic|fatal error): .+`)
)

// outcomeOf reads what a test said. problem says that there is no verdict in it.
func outcomeOf(text, test string, failed bool) (found *Broken, problem string) {
	ran := ranTest.FindStringSubmatch(text)
	fail := failLine.FindStringSubmatchIndex(text)
	switch died := diedLine.FindStringSubmatch(text); {
	case died != nil:
		found = &Broken{Property: ended, Message: panicLine.FindString(text)}
		if changedLine.MatchString(text) {
			found.Property = detected
		}
		found.Seed, _ = strconv.ParseUint(died[1], 10, 64)
		return found, ""
	case !failed && ran != nil && ran[1] == test:
		return nil, ""
	case fail == nil:
		return nil, fmt.Sprintf("%s has no verdict: %s", test, lastLines(text))
	}
	found = &Broken{Property: text[fail[2]:fail[3]]}
	if strings.HasPrefix(found.Property, spins+": ") {
		found.Property = spins
	}
	for line := range strings.Lines(text[fail[1]:]) {
		if found.Message = strings.TrimSpace(line); found.Message != "" {
			break
		}
	}
	seed := seedLine.FindStringSubmatch(text[fail[1]:])
	if seed == nil {
		return nil, fmt.Sprintf("%s has failed, and does not say with which seed: %s", test, lastLines(text))
	}
	found.Seed, _ = strconv.ParseUint(seed[1], 10, 64)
	return found, ""
}

// lastLines are the last lines of a text.
func lastLines(text string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}
