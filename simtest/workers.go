package simtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// Workers make runs of one Run at the same time, for -simtest.parallel. A bubble needs the process-wide state of its process to itself, so each is a
// process: the test's own executable, told to run only this test, which comes to the same Run, makes the runs of the seeds that it is given
// there, and skips the rest of the test. A worker decides nothing but that a seed passes. Whatever it says of a seed otherwise, or does not
// come to say, the test's own process makes that run again, in its turn, as it would have without workers.

// workerEnv, in the environment of a worker, names the test whose Run it is for. Its seeds come on file workerSeeds, a line each; what came of
// them goes to workerResults.
// workerTraceEnv names a file in which the trace of its runs grows: the test's process reads it if the worker dies.
const (
	workerEnv      = "SIMTEST_WORKER"
	workerTraceEnv = "SIMTEST_WORKER_TRACE"
	workerSeeds    = 3
	workerResults  = 4
)

// The folder and the environment of the process as the go command started it: a test may have changed both.
var (
	startFolder, startFolderErr = os.Getwd()
	startEnviron                = os.Environ()
)

// workerFor is the test whose Run this process is a worker for, "" if it is none. The programs that its tests start are none.
var workerFor = func() string {
	name := os.Getenv(workerEnv)
	workerTrace = os.Getenv(workerTraceEnv)
	os.Unsetenv(workerEnv)
	os.Unsetenv(workerTraceEnv)
	if name != "" {
		keepFromChildren(workerSeeds, workerResults)
	}
	return name
}()

// workerTrace is a worker's file for traces; its first engine takes it.
var workerTrace string

// traceForParent opens that file, which a second engine does not find any more.
func traceForParent() (*os.File, error) {
	if workerTrace == "" {
		return nil, os.ErrNotExist
	}
	return os.OpenFile(workerTrace, os.O_RDWR, 0)
}

// ran is what came of a seed in a worker.
type ran struct {
	Seed    uint64
	Passed  *wire.Passed `json:",omitempty"` // nil if the seed did not pass
	Failure string       `json:",omitempty"`
	Trace   []byte       `json:",omitempty"` // of the failure
}

// subtester is a *testing.T, the only t that stands for a test which another process can be told to run.
type subtester interface {
	TB
	Run(name string, f func(t *testing.T)) bool
	SkipNow()
	Cleanup(f func())
}

// running counts the Runs of the tests in progress, by their names.
var running struct {
	sync.Mutex
	runs map[string]int
}

// isFirst notes a Run, and reports whether a worker comes to it before any other: whether neither this test nor one above it has made one.
func isFirst(tb TB) bool {
	t, is := tb.(subtester)
	if !is {
		return false
	}
	running.Lock()
	defer running.Unlock()
	if running.runs == nil {
		running.runs = map[string]int{}
	}
	name, alone := t.Name(), true
	for parts := strings.Split(name, "/"); len(parts) > 0; parts = parts[:len(parts)-1] {
		alone = alone && running.runs[strings.Join(parts, "/")] == 0
	}
	if running.runs[name]++; running.runs[name] == 1 {
		t.Cleanup(func() {
			running.Lock()
			defer running.Unlock()
			delete(running.runs, name)
		})
	}
	return alone
}

// whyNoWorkers says why the runs of a process are made one after the other although a flag wants workers; "" if they need not be.
func whyNoWorkers() string {
	fuzz := flag.Lookup("test.fuzz")
	switch {
	case !canHaveWorkers:
		return "this system has no files that a process inherits"
	case testing.CoverMode() != "":
		return "the coverage of what they run would be missing"
	case fuzz != nil && fuzz.Value.String() != "":
		return "fuzzing has workers of its own"
	}
	return ""
}

// seeds makes the runs of the seeds 1 to n.
func (r *runner) seeds(n int) {
	r.t.Helper()
	var made map[uint64]ran
	from := uint64(1)
	if r.first && flags.parallel > 1 && n > 2 && workerFor == "" {
		if why := whyNoWorkers(); why != "" {
			r.t.Logf("simtest: -simtest.parallel=%d has no effect here: %s", flags.parallel, why)
		} else {
			// What a test looks at after Run is often what its body has left in variables, so one seed is run here in any case.
			r.do(wire.Seed, 1, "")
			from, made = 2, r.withWorkers(2, uint64(n))
		}
	}
	for seed := from; seed <= uint64(n); seed++ {
		m, is := made[seed]
		if is && m.Passed != nil {
			r.done.add(m.Passed)
			continue
		}
		r.do(wire.Seed, seed, "")
		if is && !r.t.Failed() {
			fatal(r.t, "simtest: seed %d failed in another process (-simtest.parallel), and passes here, so it does not repeat. There, it was:\n\n%s%s", seed, m.Failure, r.keepTrace(m))
		}
	}
}

// keepTrace keeps the trace of a failure in a worker, and returns the line that replays it.
func (r *runner) keepTrace(m ran) string {
	if r.folder == "" || len(m.Trace) == 0 {
		return ""
	}
	file, err := r.keep(r.traceName(m.Seed), m.Trace)
	if err != nil {
		return fmt.Sprintf("\n\n  its trace is not kept: %v", err)
	}
	return fmt.Sprintf("\n\n  its trace\n    %s -simtest.replay=%s", r.line, shellQuote(file))
}

// workersInUse is locked while a Run has workers, so that there are not more of them than the flag says.
var workersInUse sync.Mutex

// withWorkers has workers make runs of seeds, in their order until one fails, and returns what came of them.
func (r *runner) withWorkers(from, to uint64) map[uint64]ran {
	workersInUse.Lock()
	defer workersInUse.Unlock()
	p := &pool{next: from, last: to, made: map[uint64]ran{}}
	workers := min(uint64(flags.parallel), to-from+1)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[i] = r.worker(p)
		}()
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		r.t.Logf("simtest: -simtest.parallel: %v", err)
	}
	return p.made
}

// pool is the seeds of a Run that workers share.
type pool struct {
	sync.Mutex
	next, last uint64 // no seed after last is run any more
	made       map[uint64]ran
}

// take returns the next seed, 0 if there is none.
func (p *pool) take() uint64 {
	p.Lock()
	defer p.Unlock()
	if p.next > p.last {
		return 0
	}
	p.next++
	return p.next - 1
}

// add notes what came of a seed. After the first one that fails there is nothing to be done.
func (p *pool) add(m ran) {
	p.Lock()
	defer p.Unlock()
	p.made[m.Seed] = m
	if m.Passed == nil {
		p.last = min(p.last, m.Seed)
	}
}

// worker starts a worker and gives it seeds until there are none, or one has not passed. It returns why a worker did not do as it was told before its first
// seed; what is wrong with one that ends later is the seed's failure.
func (r *runner) worker(p *pool) error {
	output, box := &said{}, &blackBox{}
	var err error
	if box.trace, err = os.CreateTemp("", "informersim-*.trace.jsonl"); err != nil {
		return err
	}
	box.names = []string{box.trace.Name()} // until the worker's engine has it
	defer box.close()
	cmd, seeds, results, err := r.startWorker(output, box.trace.Name())
	if err != nil {
		return err
	}
	defer results.Close()
	answers := json.NewDecoder(bufio.NewReader(results))
	made := 0
	for seed := p.take(); seed != 0; seed = p.take() {
		m := ran{}
		_, err := fmt.Fprintln(seeds, seed)
		if err == nil {
			err = answers.Decode(&m)
		}
		if err != nil || m.Seed != seed {
			seeds.Close()
			err = endWorker(cmd)
			if made == 0 && !output.begun {
				return fmt.Errorf("a process of its own made no run (%v). It said:\n%s", err, output)
			}
			p.add(ran{Seed: seed, Failure: fmt.Sprintf("the process ended: %v. It said:\n%s", err, output), Trace: box.sofar()})
			return nil
		}
		made++
		if m.Passed != nil {
			p.add(m)
			continue
		}
		seeds.Close()
		endWorker(cmd) // its t has failed
		if text := output.String(); text != "" {
			m.Failure += "\n\nThe process said:\n" + text
		}
		p.add(m)
		return nil
	}
	seeds.Close()
	endWorker(cmd)
	return nil
}

// workerBegun is what a worker prints when it has come to its Run.
const workerBegun = "simtest: this process makes runs for another one\n"

// workerTail is how much of a worker's output is printed.
const workerTail = 16 << 10

// said is what a worker and its engine have said: the end of it. It is complete when endWorker has returned.
type said struct {
	text  []byte
	begun bool // the worker has come to its Run
}

// Write implements io.Writer.
func (s *said) Write(b []byte) (int, error) {
	s.text = append(s.text, b...)
	if !s.begun {
		before, after, found := bytes.Cut(s.text, []byte(workerBegun))
		if s.begun = found; found {
			s.text = slices.Concat(before, after)
		}
	}
	s.text = s.text[max(0, len(s.text)-workerTail):]
	return len(b), nil
}

func (s *said) String() string { return strings.TrimSpace(string(s.text)) }

// startWorker starts a worker, and returns where its seeds are written to and its results are read from.
func (r *runner) startWorker(output io.Writer, trace string) (cmd *exec.Cmd, seeds io.WriteCloser, results io.ReadCloser, err error) {
	if startFolderErr != nil {
		return nil, nil, nil, startFolderErr
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, nil, nil, err
	}
	theirSeeds, ourSeeds, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	ourResults, theirResults, err := os.Pipe()
	if err != nil {
		theirSeeds.Close()
		ourSeeds.Close()
		return nil, nil, nil, err
	}
	cmd = exec.Command(exe, workerArgs(os.Args[1:], flag.NArg(), testPattern(r.t.Name()))...)
	cmd.Dir = startFolder
	// A process that begins with one processor makes a seed's run the same more often than one that begins with several.
	cmd.Env = append(slices.Clone(startEnviron), workerEnv+"="+r.t.Name(), workerTraceEnv+"="+trace, "GOMAXPROCS=1")
	if path := enginePath(); path != "" {
		cmd.Env = append(cmd.Env, engineEnv+"="+path)
	}
	// A pipe, whose end says that the worker's engine, too, has said its last word.
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = output, output, workerPatience
	cmd.ExtraFiles = []*os.File{workerSeeds - 3: theirSeeds, workerResults - 3: theirResults}
	err = cmd.Start()
	theirSeeds.Close()
	theirResults.Close()
	if err != nil {
		ourSeeds.Close()
		ourResults.Close()
		return nil, nil, nil, err
	}
	return cmd, ourSeeds, ourResults, nil
}

// enginePath returns the path of the engine that this process has.
func enginePath() string {
	theEngine.Lock()
	defer theEngine.Unlock()
	if theEngine.current == nil {
		return ""
	}
	path, err := filepath.Abs(theEngine.current.cmd.Path)
	if err != nil {
		return ""
	}
	return path
}

// notForWorkers are flags of tests that a worker has in place of those of the command line: what they write would be written by several processes.
var notForWorkers = []string{
	"-test.count=1", "-test.cpu=", "-test.v=false", "-test.shuffle=off", "-test.list=", "-test.bench=", "-test.testlogfile=", "-test.cpuprofile=", "-test.memprofile=",
	"-test.blockprofile=", "-test.mutexprofile=", "-test.trace=", "-test.gocoverdir=", "-simtest.parallel=1", "-simtest.shrink=-1s", "-simtest.traces=",
}

// workerArgs returns the arguments of a worker: those of this process, of which the last words are not flags, and in their place what differs.
func workerArgs(args []string, words int, pattern string) []string {
	at := len(args) - words
	if at > 0 && args[at-1] == "--" {
		at--
	}
	return slices.Concat(args[:at], []string{"-test.run=" + pattern}, notForWorkers, args[at:])
}

// workerPatience is how long a worker that has nothing more to do may take for the rest of its test: deferred functions and Cleanup.
const workerPatience = 10 * time.Second

// endWorker waits for the end of a worker whose seeds are closed.
func endWorker(cmd *exec.Cmd) error {
	defer time.AfterFunc(workerPatience, func() { _ = cmd.Process.Kill() }).Stop()
	return cmd.Wait()
}

// work is a worker's part: it makes the runs of the seeds that it is given, and ends the test.
func (r *runner) work() {
	fmt.Fprint(os.Stderr, workerBegun)
	r.folder, r.o.Shrink, flags.shrink = "", -1, 0 // a failure is looked at where it is reported
	results := json.NewEncoder(os.NewFile(workerResults, "results"))
	given := make(chan uint64)
	var busy sync.Mutex // held during a run
	go func() {
		defer close(given)
		for lines := bufio.NewScanner(os.NewFile(workerSeeds, "seeds")); lines.Scan(); {
			seed, err := strconv.ParseUint(lines.Text(), 10, 64)
			if err != nil {
				return
			}
			given <- seed
		}
		if !busy.TryLock() {
			os.Exit(1) // nobody waits for the run under way any more
		}
		busy.Unlock()
	}()
	for seed := range given {
		busy.Lock()
		m := r.ran(seed)
		busy.Unlock()
		if results.Encode(m) != nil || m.Passed == nil {
			break
		}
	}
	r.t.(subtester).SkipNow()
}

// ran makes the run of a seed in a worker.
func (r *runner) ran(seed uint64) ran {
	res, trace, err := r.job(wire.Seed, seed, "")
	switch {
	case err != nil:
		return ran{Seed: seed, Failure: err.Error()}
	case res.Failure != "":
		return ran{Seed: seed, Failure: res.Failure, Trace: trace}
	case r.t.Failed():
		return ran{Seed: seed, Failure: "the body reported an error to its t"}
	}
	return ran{Seed: seed, Passed: res.Passed}
}
