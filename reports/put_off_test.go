package reports

import (
	"slices"
	"testing"
	"time"
)

// A reconcile that has failed often is put off for long: whoever waits for it is told, as long as it may not be due, has not been tried again, and is not given up.
func TestPutOff(t *testing.T) {
	fail := func(a *aftermath, key string, times int, at time.Duration) {
		for range times {
			a.reconciling("web/0", key, "", Line{})
			a.reconciling("web/1", key, "no", Line{Step: 7, At: at, Actor: "web/1"})
		}
	}
	for name, test := range map[string]struct {
		do   func(a *aftermath)
		want []string
	}{
		"often":       {func(a *aftermath) { fail(a, "pods default/a", 18, time.Minute) }, []string{"step 7          1m0s  web/1        has failed to reconcile pods default/a 18 times in a row: usually it is tried again at 11m55.36s"}},
		"longest":     {func(a *aftermath) { fail(a, "pods default/a", 40, time.Minute) }, []string{"step 7          1m0s  web/1        has failed to reconcile pods default/a 40 times in a row: usually it is tried again at 17m40s"}},
		"due":         {func(a *aftermath) { fail(a, "pods default/a", 15, time.Minute) }, nil},
		"a few times": {func(a *aftermath) { fail(a, "pods default/a", 3, 10*time.Minute) }, nil},
		"tried again": {func(a *aftermath) {
			fail(a, "pods default/a", 18, time.Minute)
			a.reconciling("web/0", "pods default/a", "", Line{})
		}, nil},
		"succeeds": {func(a *aftermath) {
			fail(a, "pods default/a", 18, time.Minute)
			a.reconciling("web/0", "pods default/a", "ok", Line{})
			fail(a, "pods default/a", 1, 9*time.Minute)
		}, nil},
		"given up": {func(a *aftermath) {
			fail(a, "pods default/a", 18, time.Minute)
			a.reconciling("web/0", "pods default/a", "terminal error: it is invalid", Line{})
		}, nil},
	} {
		a := &aftermath{failing: map[string]*failing{}}
		test.do(a)
		if got := a.putOffSection(10 * time.Minute).Lines; !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
