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
	if err := flag.Lookup("simtest.watchlist").Value.Set("maybe"); err == nil {
		t.Error("-simtest.watchlist=maybe is accepted")
	}
}
