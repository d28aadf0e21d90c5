//go:build unix

package simtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

const (
	notesEnv = "SIMTEST_TEST_NOTES" // a file with a line for each run of the child and its workers: process, seed
	modeEnv  = "SIMTEST_TEST_MODE"  // what the child and its workers do: see TestWorkers
)

// withWorkers runs this test in a process that has n workers, and returns what it says, without times, and which process ran which seed.
func withWorkers(t *testing.T, n int, mode string) (said string, processes map[string][]string, passes bool) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	notes := filepath.Join(t.TempDir(), "notes")
	cmd := exec.Command(exe, "-test.run", "^TestWorkers$/^of_a_test$", "-test.v", "-test.timeout", "120s", fmt.Sprintf("-simtest.parallel=%d", n), "a word")
	temp := t.TempDir()
	cmd.Env = asChild(t, notesEnv+"="+notes, modeEnv+"="+mode, "TMPDIR="+temp)
	out, err := cmd.CombinedOutput()
	left, _ := os.ReadDir(temp)
	for _, e := range left {
		if !e.IsDir() { // a process that dies leaves its t.TempDir
			t.Errorf("%s: it leaves %s in the temporary folder", mode, e.Name())
		}
	}
	data, _ := os.ReadFile(notes)
	processes = map[string][]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		pid, seed, _ := strings.Cut(line, " ")
		processes[pid] = append(processes[pid], seed)
	}
	said = regexp.MustCompile(`\d+\.\d+s\)`).ReplaceAllString(string(out), "")
	return said, processes, err == nil
}

func note(env *simtest.Env) {
	f, err := os.OpenFile(os.Getenv(notesEnv), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = fmt.Fprintf(f, "%d %d\n", os.Getpid(), env.Seed())
		f.Close()
	}
	if err != nil {
		panic(err)
	}
}

// With workers, a test says what it says without them: which seeds it ran and what they did, or the failure of the first seed that fails.
func TestWorkers(t *testing.T) {
	aside(t)
	if isChild() {
		t.Run("of a test", ofATest)
		return
	}
	alone, _, passes := withWorkers(t, 1, "passes")
	both, processes, bothPass := withWorkers(t, 2, "passes")
	if !passes || !bothPass || alone != both || !strings.Contains(alone, "simtest: 12 seeds, ") {
		t.Errorf("passes: %v, it says\n%s\nwith two workers: %v,\n%s", passes, alone, bothPass, both)
	}
	ran := map[string]int{}
	for _, seeds := range processes {
		for _, seed := range seeds {
			ran[seed]++
		}
	}
	if len(processes) < 2 || len(processes) > 3 || len(ran) != 12 {
		t.Errorf("the processes ran these seeds: %v", processes)
	}
	for seed, n := range ran {
		if n != 1 {
			t.Errorf("seed %s was run %d times", seed, n)
		}
	}

	alone, _, passes = withWorkers(t, 1, "fails")
	both, processes, bothPass = withWorkers(t, 2, "fails")
	if passes || bothPass || alone != both || len(processes) < 2 {
		t.Errorf("passes: %v, it says\n%s\nwith two workers: %v,\n%s\nthe processes ran %v", passes, alone, bothPass, both, processes)
	}
	wantIn(t, both, "simtest: before this failure: 4 seeds, ", "seed 5 · ", "it is time")

	if testing.Short() {
		return // each mode is a process more, and its workers
	}
	for mode, want := range map[string]string{
		"fails in a worker": "simtest: seed 5 failed in another process (-simtest.parallel), and passes here, so it does not repeat. There, it was:",
		"dies in a worker":  "simtest: seed 5 failed in another process (-simtest.parallel), and passes here, so it does not repeat. There, it was:",
	} {
		said, _, passes := withWorkers(t, 2, mode)
		if passes {
			t.Errorf("%s: it passes", mode)
		}
		wantIn(t, said, want)
		if mode == "fails in a worker" {
			wantIn(t, said, "FAIL  the end at step", "  its trace\n", "-simtest.replay=testdata/simtest/TestWorkers_of_a_test-5.trace.jsonl")
		}
		if mode == "dies in a worker" {
			wantIn(t, said, "the process ended: exit status 3. It said:", "last words", "the process died during a run: TestWorkers/of_a_test, seed 5",
				"  its trace\n", "-simtest.replay=testdata/simtest/TestWorkers_of_a_test-5.trace.jsonl")
			if strings.Contains(said, "the trace so far is in ") {
				t.Errorf("it names a second place for the trace:\n%s", said)
			}
		}
	}

	// Where no worker comes to its Run, the test makes all runs itself.
	said, processes, passes := withWorkers(t, 2, "hides")
	if !passes || len(processes) != 1 {
		t.Errorf("the processes ran %v; passes: %v\n%s", processes, passes, said)
	}
	wantIn(t, said, "a process of its own made no run", "simtest: 12 seeds, ")
}

// ofATest is what the child and its workers run.
func ofATest(t *testing.T) {
	mode, worker := os.Getenv(modeEnv), simtest.IsWorker()
	t.Chdir(t.TempDir())
	if mode == "hides" && worker {
		return
	}
	simtest.Run(t, simtest.Options{Seeds: 12, Shrink: -1}, func(env *simtest.Env) {
		note(env)
		var indexer cache.Indexer
		env.Go("mirror", mirror(env, "mirror", &indexer))
		env.Go("five", func(ctx context.Context) error {
			<-ctx.Done()
			return nil
		})
		workload(env)
		if env.Seed() == 5 || env.Seed() == 7 {
			switch {
			case mode == "fails" || mode == "fails in a worker" && worker:
				env.Eventually("the end", 0, func() error { return errors.New("it is time") })
			case mode == "dies in a worker" && worker:
				fmt.Println("last words")
				os.Exit(3)
			}
		}
		env.StopFaults()
		env.Eventually("the cache is what the server has", 25*time.Minute, func() error { return converged(env, indexer) })
	})
	if worker {
		t.Error("a worker goes on after Run")
	}
}
