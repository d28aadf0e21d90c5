package simtest_test

import (
	"errors"
	"flag"
	"strings"
	"testing"

	"github.com/informersim/informersim/simtest"
)

// setFlag sets a flag until the test ends.
func setFlag(t *testing.T, name, value string) {
	t.Helper()
	f := flag.Lookup(name)
	was := f.Value.String()
	if err := f.Value.Set(value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(was) })
}

func broken(env *simtest.Env) {
	env.Eventually("the end", 0, func() error { return errors.New("it is never reached") })
}

// Options fix what a seed draws, too, one thing each.
func TestOptionsPinWhatASeedDraws(t *testing.T) {
	o := simtest.Options{Shrink: -1, Replicas: 3, History: 5, WatchList: simtest.Off, CrashProbability: 0.25, MaxCrashes: 4}
	wantIn(t, failure(t, o, broken), "replicas, watch caches of 5 events, no streaming lists, crashes (0.25 per step, at most 4)")
	o.History, o.WatchList, o.CrashProbability = simtest.AdaptiveHistory, simtest.On, -1
	if message := failure(t, o, broken); strings.Contains(message, "watch caches of") || strings.Contains(message, "no streaming") || strings.Contains(message, "crashes (") {
		t.Errorf("the report names what there is not:\n%s", message)
	}
}

// Flags fix what a seed draws, one thing each, and stand in the line that repeats the run.
func TestFlagsPinWhatASeedDraws(t *testing.T) {
	o := simtest.Options{Shrink: -1}
	seedOf := func(text string) string {
		_, line, _ := strings.Cut(text, "seed 1 · fault mix ")
		line, _, _ = strings.Cut(line, "\n")
		return line
	}
	free := seedOf(failure(t, o, broken))
	setFlag(t, "simtest.replicas", "7")
	setFlag(t, "simtest.history", "9")
	setFlag(t, "simtest.watchlist", "off")
	message := failure(t, o, broken)
	wantIn(t, message, "7 ", "replicas, watch caches of 9 events, no streaming lists", "-simtest.replicas=7 -simtest.history=9 -simtest.watchlist=off -simtest.seed=1")
	setFlag(t, "simtest.crashes", "0.25")
	setFlag(t, "simtest.mix", "light")
	message = failure(t, o, broken)
	wantIn(t, message, "fault mix light", "7 replicas, watch caches of 9 events, no streaming lists, crashes (0.25 per step", "-simtest.mix=light -simtest.crashes=0.25")
	if pinned := seedOf(message); free == "" || pinned == free {
		t.Errorf("with the flags it is %q, without %q", pinned, free)
	}
	wantIn(t, failure(t, simtest.Options{Strategy: "fifo"}, broken), "7 replicas", "-simtest.replicas=7") // which takes no faults
	setFlag(t, "simtest.mix", "litghten")
	wantIn(t, failure(t, o, broken), `there is no fault mix "litghten"`, "with -simtest.mix=litghten")
}

// What a flag does not take is an error, and not taken for what is left to the seed.
func TestFlagsThatAreWrong(t *testing.T) {
	for name, values := range map[string][]string{
		"seeds": {"0", "-1", "abc", "1.5"}, "seed": {"0", "-1"}, "parallel": {"0", "-2"}, "replicas": {"0", "-3"}, "history": {"0", "-2"},
		"crashes": {"0", "2", "NaN"}, "shrink": {"5", "0s"}, "watchlist": {"maybe"},
	} {
		f := flag.Lookup("simtest." + name)
		was := f.Value.String()
		for _, v := range values {
			if err := f.Value.Set(v); err == nil || !strings.Contains(err.Error(), "it must be") {
				t.Errorf("-simtest.%s=%s: %v, want what it must be", name, v, err)
			}
			if got := f.Value.String(); got != was {
				t.Errorf("-simtest.%s=%s, which is refused, sets it to %q", name, v, got)
			}
		}
	}
}

// A variable of the environment that no flag takes fails the tests, or it would be taken for one that is not set.
func TestEnvironmentThatIsWrong(t *testing.T) {
	if isChild() {
		simtest.Run(t, simtest.Options{Seeds: 1}, func(*simtest.Env) {})
		return
	}
	out := runChildWith(t, asChild(t, "SIMTEST_SEEDS=many", "SIMTEST_WATCHLIST=maybe"))
	wantIn(t, out, "the environment has SIMTEST_SEEDS=many: it must be a whole number, 1 or more", "the environment has SIMTEST_WATCHLIST=maybe: it must be on or off")
}
