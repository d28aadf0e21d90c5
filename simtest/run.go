package simtest

import (
	"errors"
	"flag"
	"fmt"
	randv2 "math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"sort"
	"strings"
	"sync"

	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/informersim/informersim/simtest/internal/bubble"
	"github.com/informersim/informersim/simtest/internal/wire"
)

// Run calls body once for each seed, in a world of its own, and fails t at the first seed that breaks something. Stored traces of
// earlier failures, under testdata/simtest, are replayed first; where a test has several Runs, each by the one that it is of. Run returns after all goroutines started in its worlds have
// ended.
func Run(t TB, o Options, body func(env *Env)) {
	needsTest(t)
	t.Helper()
	r := newRunner(t, o, body)
	r.first = isFirst(t)
	switch {
	case againFor.test != "":
		r.makeAgain()
		return
	case r.first && workerFor == t.Name():
		r.work()
	case flags.replay != "":
		r.do(wire.Replay, 0, flags.replay)
	case flags.seed != 0:
		r.do(wire.Seed, flags.seed, "")
		r.summarize()
	default:
		for _, file := range r.storedTraces() {
			r.do(wire.Retry, 0, file)
		}
		n := r.o.Seeds
		if flags.seeds > 0 {
			n = flags.seeds
		}
		r.seeds(n)
		r.summarize()
	}
	r.watchSpec()
}

// runner makes the runs of one call of Run.
type runner struct {
	t       TB
	o       *Options
	data    wire.Options
	body    func(*Env)
	pkg     string   // the import path of the test
	line    string   // the command that runs only this test
	pinned  string   // the flags of it that take the place of options
	alone   []string // the arguments with which another process runs only this test, nil if none can
	number  int      // of this call among those of the test, 0 if that is not known
	first   bool     // no other Run of this test has been made
	folder  string   // the test's, in which traces are kept; "" to keep none
	traces  string   // what -simtest.traces names, as far as this runner keeps traces
	schemes []*k8sruntime.Scheme
	hooks   []Object // the configurations of webhooks
	roles   []Object // those of Options.Roles, and what they are for
	done    *summary // of the seeds that passed

	documents sync.Map // the answers to requests for discovery, by method, URL and Accept: they never change
	escaped   any      // what the last body panicked with
	current   *world   // the run in progress or the last one, nil before the first
	shrinking string   // the report of the failure that is being shrunk, "" for none
	replaying bool     // a trace is being replayed
}

// newRunner checks Run's arguments.
func newRunner(t TB, o Options, body func(env *Env)) *runner {
	t.Helper()
	if body == nil {
		fatal(t, "simtest: Run needs a body, got nil")
	}
	if inBubble() {
		fatal(t, "simtest: Run was called inside a synctest bubble (another Run's, or synctest.Test's): call it outside, it makes its own")
	}
	err := flags.bad
	if err == nil {
		err = o.complete()
	}
	var data wire.Options
	if err == nil {
		data, err = o.data()
	}
	var hooks, roles []Object
	if err == nil {
		if hooks, err = o.Webhooks.objects(); err != nil {
			err = fmt.Errorf("Options.Webhooks: %w", err)
		}
	}
	if err == nil {
		if roles, err = readRoles(o.Roles); err != nil {
			err = fmt.Errorf("Options.Roles: %w", err)
		}
	}
	if err != nil {
		fatal(t, "simtest: %v", err)
	}
	pinned := flags.pins.apply(&data)
	pkg := packageOf(body)
	r := &runner{t: t, o: &o, data: data, body: body, pkg: pkg, line: commandLine(t, pkg) + pinned, pinned: pinned, hooks: hooks, roles: roles, done: newSummary()}
	r.number = numberOf(t)
	if r.schemes = []*k8sruntime.Scheme{scheme.Scheme}; o.Scheme != nil {
		r.schemes = append(r.schemes, o.Scheme)
	}
	if _, is := t.(interface{ TempDir() string }); is && !fuzzes() {
		// A property-based test runs the same name with varying inputs, which no trace holds; its t has no TempDir. So does the fuzzing of a fuzz target.
		if r.folder, err = os.Getwd(); err != nil {
			fatal(t, "simtest: %v", err)
		}
		if err := r.openTraces(); err != nil {
			fatal(t, "simtest: -simtest.traces=%s: no trace can be kept there: %v", flags.traces, err)
		}
		r.alone = r.againArgs()
	}
	return r
}

// fuzzes reports whether this process makes up inputs of a fuzz target. The one that fails is kept by the go command, and is a test of its own from then on.
func fuzzes() bool {
	f := flag.Lookup("test.fuzzworker")
	return f != nil && f.Value.String() == "true"
}

// needsTest panics if t is nil. It comes before t.Helper, which has the lines of a failure be the caller's.
func needsTest(t TB) {
	if isNil(t) {
		panic("simtest: Run needs the t of a test, got nil")
	}
}

// isNil reports whether t is nil or an interface that holds a nil pointer.
func isNil(t TB) bool {
	if t == nil {
		return true
	}
	v := reflect.ValueOf(t)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// inBubble reports whether the caller's goroutine is in a bubble.
func inBubble() bool {
	buf := make([]byte, 256)
	state, _, _ := strings.Cut(string(buf[:runtime.Stack(buf, false)]), "\n")
	return strings.Contains(state, "synctest bubble")
}

// fatal fails the test and ends its goroutine.
func fatal(t TB, format string, args ...any) {
	t.Helper()
	text := fmt.Sprintf(format, args...)
	if fromGinkgo(t) {
		failSpec(t, text)
		return
	}
	t.Errorf("%s", text)
	t.FailNow()
}

// storedTraces returns the traces of earlier failures, relative to the test's folder.
func (r *runner) storedTraces() []string {
	if r.folder == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(traceFolder, nameInFiles(r.t.Name())+"-*"+traceSuffix))
	if err != nil {
		return nil // the pattern is ours: only a strange test name can make it malformed
	}
	sort.Strings(files)
	return files
}

var notInNames = regexp.MustCompile(`[^\p{L}\p{N}_.]+`)

// nameInFiles returns a test's name as used in file names.
func nameInFiles(test string) string { return notInNames.ReplaceAllString(test, "_") }

// traceName returns the name of a trace's file, without its suffix, as the engine gives it.
func (r *runner) traceName(seed uint64) string {
	if r.number > 1 {
		return fmt.Sprintf("%s-run%d-%d", nameInFiles(r.t.Name()), r.number, seed)
	}
	return fmt.Sprintf("%s-%d", nameInFiles(r.t.Name()), seed)
}

// do has the engine do a job, and fails the test with its result.
func (r *runner) do(mode wire.Mode, seed uint64, file string) {
	r.t.Helper()
	res, _, err := r.job(mode, seed, file)
	if err != nil {
		r.summarizeBefore()
		fatal(r.t, "%s", err.Error())
	}
	if res.Failure != "" {
		r.summarizeBefore()
		r.warnOfEngine()
	}
	for _, line := range res.Logs {
		r.t.Logf("%s", line)
	}
	r.refuseLeftOut(res.Other, file)
	if file != "" {
		r.met(file, res.OtherRun)
	}
	if res.Passed != nil {
		r.done.add(res.Passed)
	}
	switch {
	case res.Failure == "":
	case res.Escaped:
		// Other testing libraries unwind with panics of their own, which they must catch themselves.
		r.t.Logf("%s", res.Failure)
		panic(r.escaped)
	case res.Invalid && r.pinned != "":
		fatal(r.t, "%s\n  with%s", res.Failure, r.pinned)
	default:
		fatal(r.t, "%s", res.Failure)
	}
}

// refuseLeftOut fails the test if a trace is of another one that is not run: go test would say ok, and nothing would have been replayed.
func (r *runner) refuseLeftOut(other, file string) {
	r.t.Helper()
	if other != "" && !fromGinkgo(r.t) && leftOut(other) {
		fatal(r.t, "simtest: -simtest.replay=%s is a trace of %s, which -run leaves out, so nothing is replayed: run that test", file, other)
	}
}

// leftOut reports whether -run leaves out a test. Of a subtest, it is the test that counts.
func leftOut(test string) bool {
	f := flag.Lookup("test.run")
	if f == nil || f.Value.String() == "" {
		return false
	}
	var top []string // of each alternative
	for _, pattern := range strings.Split(f.Value.String(), "|") {
		pattern, _, _ = strings.Cut(pattern, "/")
		top = append(top, pattern)
	}
	name, _, _ := strings.Cut(test, "/")
	only, err := regexp.Compile(strings.Join(top, "|"))
	return err == nil && !only.MatchString(name)
}

// job has the engine do a job, and makes the bubbles for it.
func (r *runner) job(mode wire.Mode, seed uint64, file string) (*wire.Result, []byte, error) {
	if err := bubble.Broken(); err != nil {
		return nil, nil, fmt.Errorf("simtest: this test has not been run: %w\n  alone, it can be:  %s", err, r.line)
	}
	e, err := acquire()
	if err != nil {
		return nil, nil, fmt.Errorf("simtest: %w", err)
	}
	defer e.release()
	defer collectSeldom()()
	task := wire.Task{
		Mode: mode, Test: r.t.Name(), Run: r.number, Package: r.pkg, Command: r.line, Again: r.alone, Seeded: bubble.Seeded(), Folder: r.folder, Traces: r.traces, Worker: workerFor != "", Seed: seed, File: file,
		Verify: flags.verify || r.o.Verify, Shrink: r.o.Shrink, Options: r.data, ClientGo: clientVersion(), Go: runtime.Version(),
	}
	task.Keep = mode == wire.Seed && flags.seed != 0 && r.traces != ""
	if flags.shrink != 0 {
		task.Shrink = flags.shrink
	}
	if file != "" && !filepath.IsAbs(file) && r.folder == "" {
		if task.File, err = filepath.Abs(file); err != nil {
			return nil, nil, err
		}
	}
	r.current, r.shrinking, r.replaying = nil, "", mode == wire.Replay || mode == wire.Retry
	res, trace, err := (*wire.Result)(nil), []byte(nil), e.send(wire.New(wire.Job).JSON(task))
	if err == nil {
		res, trace, err = r.serve(e)
	}
	if err != nil {
		err = errors.New(r.engineDied(e, err, seed))
		e.forget()
	}
	return res, trace, err
}

// serve does what the engine says until the job is done.
func (r *runner) serve(e *engine) (*wire.Result, []byte, error) {
	for {
		m, err := e.receive()
		if err != nil {
			return nil, nil, err
		}
		switch m.Kind {
		case wire.Begin:
			seed := uint64(m.Num())
			r.shrinking = m.Text()
			interleave, detect := m.Flag(), m.Flag()
			if err := r.bubble(e, seed, interleave, detect); err != nil {
				return nil, nil, err
			}
		case wire.Do, wire.Call, wire.End: // for a bubble that has already ended by itself, as the engine is about to read
		case wire.Finished:
			res := &wire.Result{}
			m.JSON(res)
			return res, m.Bytes(), m.Err()
		default:
			return nil, nil, fmt.Errorf("the engine sends a message of kind %q between two runs; this is a bug in informersim", m.Kind)
		}
	}
}

// bubble makes the bubble of one run.
func (r *runner) bubble(e *engine, seed uint64, interleave, detect bool) error {
	forgetNeverExitWatch()
	defer detectMutations(detect)()
	w := newWorld(r, e, seed)
	r.current = w
	logged.Store(w)
	defer logged.Store(nil)
	// apimachinery has a source of its own, which begins with the real time: generated names come from it.
	utilrand.Seed(int64(seed))
	defer func() { utilrand.Seed(int64(randv2.Uint64())) }() // as bubble does with the others
	// With one processor, goroutines of the user's that wake at the same time take turns in the same order every time, so which of
	// them is first to add to a queue does not depend on which processor is faster. The race detector shuffles them even so.
	err := bubble.Run(seed, bubble.Options{QuiescenceTimeout: r.o.RealQuiescenceTimeout, OneProcessor: true, Interleave: interleave, LocksRest: true, Many: againFor.limit > 0}, w.loop)
	w.ended.Store(true)
	w.close()
	w.log.close()
	if !isStuck(err) { // its goroutines are still there, so nothing that they use may be touched
		if err == nil {
			err = w.leak
		}
		if w.lost != nil {
			return w.lost
		}
		r.escaped = w.body.escaped
	}
	p := wire.New(wire.Ended).Flag(w.testFailed()).Flag(isStuck(err))
	text, log := "", &wire.Packet{}
	if err != nil {
		text = err.Error()
	}
	if errors.As(err, new(*bubble.LeakError)) {
		text = strings.TrimSuffix(text, "\n") + "\nEnd them with the context that env.Go passes. If they are to end with the process only, set Options.AllowLeaks."
	}
	var stuck *bubble.StuckError
	if errors.As(err, &stuck) && stuck.Locked {
		text = strings.TrimSuffix(text, "\n") + "\n" + locksNeedOverlay
	}
	if err != nil || w.wanted {
		log = w.log.packet()
	}
	return e.send(p.Text(text).Field(log))
}

// locksNeedOverlay says what to do where one goroutine has a lock while it waits for the run, as another waits for the lock.
const locksNeedOverlay = "\nA lock may be kept across a request or a sleep only in a test that is built with the overlay: to Go's testing/synctest\n" +
	"a goroutine that waits for a lock is busy, so no answer comes and no time passes.\n    informersim go test …\n"

// plain reports whether a panic is a program's own, as opposed to a testing library's way of ending a test.
func plain(v any) bool {
	switch v.(type) {
	case error, string, fmt.Stringer:
		return true
	}
	return false
}

// packageOf returns the import path of the body's package, "." if it is unknown.
func packageOf(body func(*Env)) string {
	f := runtime.FuncForPC(reflect.ValueOf(body).Pointer())
	if f == nil {
		return "."
	}
	name := f.Name()
	slash := strings.LastIndex(name, "/") + 1
	dot := strings.Index(name[slash:], ".")
	if dot <= 0 {
		return "."
	}
	path, err := url.PathUnescape(name[:slash+dot]) // the linker escapes dots in the last part
	if err != nil {
		return "."
	}
	return strings.TrimSuffix(path, "_test")
}

// overlayHint is the command that builds a test with the overlay.
const overlayHint = `informersim go test`

// commandLine returns the command that runs only this test.
func commandLine(t TB, pkg string) string {
	command := "go test"
	if bubble.Seeded() {
		command = overlayHint
	}
	if fromGinkgo(t) {
		return specCommand(command, pkg, t.Name())
	}
	return fmt.Sprintf("%s %s -run %s", command, shellQuote(pkg), shellQuote(testPattern(t.Name())))
}

// testPattern returns what -run needs for only this test.
func testPattern(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

// shellQuote quotes a word for a POSIX shell, if it must be.
func shellQuote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
