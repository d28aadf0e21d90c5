package simtest_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/klog/v2"

	"github.com/informersim/informersim/simtest"
)

// tryFind calls Find as a test would.
func tryFind(tb simtest.TB, o simtest.Options, body func(env *simtest.Env)) (found *simtest.Finding) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		found = simtest.Find(tb, o, body)
	}()
	<-done
	return found
}

// crashes has runs of crashBody with more faults than it needs.
var crashes = simtest.Options{Seeds: 1, Mix: "storm", Replicas: 2, CrashProbability: 0.01}

func loggingCrashBody(env *simtest.Env) {
	klog.InfoS("the body begins")
	crashBody(env)
}

// namesIn returns what is in a folder.
func namesIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

// -simtest.seeds gives Find more runs than Options.Seeds, and never fewer.
func TestFindTakesMoreSeeds(t *testing.T) {
	for _, test := range []struct {
		flag string
		want uint64
	}{{"", 3}, {"1", 3}, {"5", 5}} {
		setFlag(t, "simtest.seeds", test.flag)
		last := uint64(0)
		k := &keeper{recorder{name: "TestX"}}
		if found := tryFind(k, simtest.Options{Seeds: 3}, func(env *simtest.Env) { last = env.Seed() }); found != nil {
			t.Fatalf("found %v", found)
		}
		if last != test.want {
			t.Errorf("with -simtest.seeds=%s, Find ended with seed %d, want %d", test.flag, last, test.want)
		}
	}
}

// With -simtest.traces, what Find finds is shrunk and kept, with its log and its report, beside what is there already. Without it, it is as it was found,
// and kept nowhere, unless the options ask for it to be shrunk.
func TestFindKeepsTraces(t *testing.T) {
	t.Chdir(t.TempDir())
	k := &keeper{recorder{name: "TestX/a b"}}
	asItWas := tryFind(k, crashes, loggingCrashBody)
	if asItWas == nil || asItWas.Faults < 2 || len(namesIn(t, ".")) > 0 {
		t.Fatalf("found %+v, and the folder has %v", asItWas, namesIn(t, "."))
	}
	o := crashes
	o.Shrink = time.Minute
	if found := tryFind(k, o, crashBody); found.Faults != 1 || found.Steps >= asItWas.Steps || len(namesIn(t, ".")) > 0 {
		t.Errorf("shrunk, there are %d steps, %d faults and the files %v", found.Steps, found.Faults, namesIn(t, "."))
	}

	setFlag(t, "simtest.traces", "out/traces")
	setFlag(t, "simtest.shrink", "1m")
	found := tryFind(k, crashes, loggingCrashBody)
	if found.Faults != 1 || found.Steps >= asItWas.Steps || k.failed {
		t.Errorf("%d steps and %d faults became %d and %d: %v", asItWas.Steps, asItWas.Faults, found.Steps, found.Faults, k.errors)
	}
	const file = "out/traces/TestX_a_b-1.trace.jsonl"
	wantIn(t, strings.Join(k.logs, "\n"), "simtest: the finding's trace is in "+file+"\n", "-run '^TestX$/^a b$' -simtest.replay="+file)
	wantIn(t, found.Text, "shrunk from ", "-simtest.replay="+file, "out/traces/TestX_a_b-1.html")
	kept, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(kept, found.Trace) {
		t.Errorf("%s (%v) is not the finding's trace", file, err)
	}

	// Another one finds its place taken, also by a file of the user's.
	if err := os.WriteFile("out/traces/TestX_a_b-1-2.html", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	tryFind(k, crashes, loggingCrashBody)
	want := []string{
		"TestX_a_b-1-2.html", "TestX_a_b-1-3.html", "TestX_a_b-1-3.log", "TestX_a_b-1-3.trace.jsonl", "TestX_a_b-1.html", "TestX_a_b-1.log", "TestX_a_b-1.trace.jsonl",
	}
	if names := namesIn(t, "out/traces"); !slices.Equal(names, want) {
		t.Errorf("the files are %v, want %v", names, want)
	}
	if again, err := os.ReadFile(file); err != nil || !bytes.Equal(kept, again) {
		t.Errorf("%s is another one: %v", file, err)
	}
	if names := namesIn(t, "."); !slices.Equal(names, []string{"out"}) {
		t.Errorf("there is more: %v", names)
	}

	// A property-based test has inputs that no trace has.
	r := &recorder{name: "TestX"}
	if found := tryFind(r, crashes, crashBody); found == nil || r.failed {
		t.Errorf("found %v, and errors %v", found, r.errors)
	}
	wantIn(t, strings.Join(r.logs, "\n"), "no trace is kept of a test whose t has no TempDir")
}

// With -simtest.traces a failure of Run is kept there, and not where the next run would replay it.
func TestRunKeepsTraces(t *testing.T) {
	t.Chdir(t.TempDir())
	folder := filepath.Join(t.TempDir(), "it's here")
	setFlag(t, "simtest.traces", folder)
	for range 2 {
		k := &keeper{recorder{name: "TestX"}}
		try(k, simtest.Options{Seeds: 1, Mix: "none", Shrink: -1}, breaks(time.Second))
		if len(k.errors) != 1 || len(k.logs) != 0 {
			t.Fatalf("errors %v, logs %v", k.errors, k.logs)
		}
	}
	want := []string{"TestX-1-2.html", "TestX-1-2.trace.jsonl", "TestX-1.html", "TestX-1.trace.jsonl"}
	if names := namesIn(t, folder); !slices.Equal(names, want) || len(namesIn(t, ".")) > 0 {
		t.Errorf("the files are %v and %v, want %v", names, namesIn(t, "."), want)
	}
}

// The trace of the one seed that somebody asks for is kept if nothing is found, too: to see what happens in a run. It replays.
func TestRunKeepsThePassingSeed(t *testing.T) {
	t.Chdir(t.TempDir())
	body := func(env *simtest.Env) {
		env.Create(configMap("a", ""))
		env.Advance(time.Minute)
	}
	of := func() *keeper {
		k := &keeper{recorder{name: "TestX"}}
		if try(k, simtest.Options{Seeds: 3}, body); len(k.errors) > 0 {
			t.Fatalf("errors %v", k.errors)
		}
		return k
	}
	setFlag(t, "simtest.traces", "out")
	of()
	if names := namesIn(t, "out"); len(names) > 0 {
		t.Errorf("of seeds that nobody asked for, there are %v", names)
	}
	setFlag(t, "simtest.seed", "2")
	wantIn(t, strings.Join(of().logs, "\n"), "the trace of seed 2, which breaks nothing, is in out/TestX-2.trace.jsonl", "step by step in a browser: out/TestX-2.html")
	if names, want := namesIn(t, "out"), []string{"TestX-2.html", "TestX-2.trace.jsonl"}; !slices.Equal(names, want) || len(namesIn(t, ".")) != 1 {
		t.Errorf("the files are %v and %v, want %v", names, namesIn(t, "."), want)
	}
	setFlag(t, "simtest.seed", "")
	setFlag(t, "simtest.traces", "")
	setFlag(t, "simtest.replay", "out/TestX-2.trace.jsonl")
	wantIn(t, strings.Join(of().logs, "\n"), "out/TestX-2.trace.jsonl is the same run, step by step, and breaks nothing")
}

// Names that controllers make up with apimachinery's random numbers are the seed's, or no trace with one of them would replay.
func TestNamesAreTheSeeds(t *testing.T) {
	r := &recorder{name: "TestX"}
	of := func(seed string) *simtest.Finding {
		setFlag(t, "simtest.seed", seed)
		return tryFind(r, simtest.Options{Mix: "none", Shrink: -1}, func(env *simtest.Env) {
			env.Create(configMap("a-"+utilrand.String(8), ""))
			breaks(time.Second)(env)
		})
	}
	first, again, other := of("1"), of("1"), of("2")
	if !bytes.Equal(first.Trace, again.Trace) {
		t.Errorf("two runs of a seed differ:\n%s\n%s", first, again)
	}
	name := regexp.MustCompile(`a-\w{8}`)
	if a, b := name.Find(first.Trace), name.Find(other.Trace); a == nil || bytes.Equal(a, b) {
		t.Errorf("with two seeds the names are %s and %s", a, b)
	}
}

// A folder that cannot be used is an error before anything is run; one that is lost later, when something is found.
func TestTracesThatCannotBeKept(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("file", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	setFlag(t, "simtest.traces", "file/out")
	ran := false
	body := func(*simtest.Env) { ran = true }
	first, second := &keeper{recorder{name: "TestX"}}, &keeper{recorder{name: "TestX"}}
	tryFind(first, simtest.Options{Seeds: 1}, body)
	try(second, simtest.Options{Seeds: 1}, body)
	for _, k := range []*keeper{first, second} {
		wantIn(t, strings.Join(k.errors, "\n"), "simtest: -simtest.traces=file/out: no trace can be kept there: mkdir ", "not a directory")
	}
	if ran {
		t.Error("the body was called")
	}

	setFlag(t, "simtest.traces", "out")
	k := &keeper{recorder{name: "TestX"}}
	found := tryFind(k, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) {
		if err := os.RemoveAll("out"); err != nil {
			t.Error(err)
		}
		breaks(time.Second)(env)
	})
	if found == nil {
		t.Error("nothing is found")
	}
	wantIn(t, strings.Join(k.errors, "\n"), "simtest: -simtest.traces=out: the trace of seed 1, in which the test has found what it looks for, is not kept: open ")
}

// With -simtest.replay Find makes the trace's run, says that it is the same, and shows it; likewise the run of -simtest.seed.
func TestFindReplays(t *testing.T) {
	t.Chdir(t.TempDir())
	broken := true
	o := simtest.Options{Seeds: 3, Mix: "none", Shrink: -1}
	body := func(env *simtest.Env) {
		env.Go("p", func(ctx context.Context) error { <-ctx.Done(); return nil })
		env.Advance(time.Second)
		env.Eventually("the end", 0, func() error {
			if broken {
				return errors.New("it is never reached")
			}
			return nil
		})
	}
	setFlag(t, "simtest.traces", ".")
	k := &keeper{recorder{name: "TestX"}}
	first := tryFind(k, o, body)
	if first == nil || k.failed {
		t.Fatalf("found %v: %v", first, k.errors)
	}
	setFlag(t, "simtest.traces", "")

	const file = "TestX-1.trace.jsonl"
	setFlag(t, "simtest.replay", file)
	k = &keeper{recorder{name: "TestX"}}
	again := tryFind(k, o, body)
	if again == nil || again.Text != first.Text || again.Property != "the end" || !bytes.Equal(again.Trace, first.Trace) || len(k.logs) != 0 {
		t.Errorf("the replay found\n%v\nlogs %v\nbefore, it was\n%v", again, k.logs, first)
	}
	if want := "simtest: " + file + " is the same run again, step by step. The test expects what it breaks, and passes without -simtest.replay.\n\n" + first.Text; !slices.Equal(k.errors, []string{want}) {
		t.Errorf("it says\n%v\nwant\n%s", k.errors, want)
	}

	setFlag(t, "test.run", "")                // each test is run
	other := &keeper{recorder{name: "TestY"}} // looks for it as always
	if found := tryFind(other, o, body); found == nil || other.failed {
		t.Errorf("found %v: %v", found, other.errors)
	}
	wantIn(t, strings.Join(other.logs, "\n"), file+" is a trace of TestX, not of this test")

	changed := &keeper{recorder{name: "TestX"}}
	found := tryFind(changed, o, func(env *simtest.Env) { env.Advance(time.Minute); body(env) })
	if found == nil || strings.Contains(strings.Join(changed.errors, "\n"), "the same run") {
		t.Errorf("found %v of another program: %v", found, changed.errors)
	}
	wantIn(t, strings.Join(changed.errors, "\n"), "FAIL  the end at step")
	wantIn(t, strings.Join(changed.logs, "\n"), file+" differs from this program at step ")

	broken = false
	mended := &keeper{recorder{name: "TestX"}}
	if found := tryFind(mended, o, body); found != nil || mended.failed {
		t.Errorf("found %v of a program that is mended: %v", found, mended.errors)
	}
	wantIn(t, strings.Join(mended.logs, "\n"), file+" passes now")
	setFlag(t, "simtest.replay", "missing.trace.jsonl")
	tryFind(mended, o, body)
	wantIn(t, strings.Join(mended.errors, "\n"), "missing.trace.jsonl: no such file")

	setFlag(t, "simtest.replay", "")
	setFlag(t, "simtest.seed", "3")
	broken = true
	k = &keeper{recorder{name: "TestX"}}
	if found := tryFind(k, o, body); found == nil || found.Seed != 3 || !slices.Equal(k.errors, []string{found.Text}) {
		t.Errorf("with seed 3, found %v and says %v", found, k.errors)
	}
}

// A run that was never made has found nothing: after one that spins, a test that must find something fails.
func TestFindAfterARunThatSpins(t *testing.T) {
	if !isChild() {
		out := runChild(t)
		wantIn(t, out, "has not been run: an earlier run of this process never became quiescent", "a hot loop", "alone, it can be:", "-run '^TestFindAfterARunThatSpins$/^next$'")
		if strings.Contains(out, "found without a run") {
			t.Errorf("something is found without a run:\n%s", out)
		}
		return
	}
	o := simtest.Options{Seeds: 1, RealQuiescenceTimeout: 200 * time.Millisecond}
	if f := simtest.Find(t, o, func(env *simtest.Env) {
		go func() {
			for {
				runtime.Gosched()
			}
		}()
		env.Settle()
	}); f == nil {
		t.Error("the goroutine that spins is not found")
	}
	t.Run("next", func(t *testing.T) {
		f := simtest.Find(t, o, func(env *simtest.Env) { env.Settle() })
		t.Errorf("found without a run: %s", f)
	})
}
