package wellbehaved

import (
	"testing"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/sim"
)

// A rate limiter that is never told of a success is known by what it does with two failures in each round, wherever its delays begin and end, and no other is.
func TestGrowingBackoff(t *testing.T) {
	// exponential is a rate limiter, whose count each success sets back unless it is never told.
	exponential := func(base, most time.Duration, factor float64, forgets bool) func(failures, since int) time.Duration {
		return func(failures, since int) time.Duration {
			n := failures
			if forgets {
				n = since
			}
			d := float64(base)
			for range n - 1 {
				d *= factor
			}
			return min(time.Duration(d), most)
		}
	}
	drawn := []time.Duration{1, 2, 4, 7, 18, 30, 66, 120, 250, 500}
	for name, c := range map[string]struct {
		delay func(failures, since int) time.Duration // of a retry, by the failures in all, and since a success
		want  bool
	}{
		"of a work queue":           {exponential(5*time.Millisecond, 1000*time.Second, 2, false), true},
		"that begins with a second": {exponential(time.Second, time.Hour, 2, false), true},
		"that ends with a minute":   {exponential(time.Second, time.Minute, 2, false), true},
		"that grows by a half":      {exponential(time.Second, time.Hour, 1.5, false), true},
		"a work queue that is told": {exponential(5*time.Millisecond, 1000*time.Second, 2, true), false},
		"a second that is told":     {exponential(time.Second, time.Minute, 2, true), false},
		"that ends too soon":        {exponential(time.Second, 4*time.Second, 2, false), false},
		"always the same":           {func(int, int) time.Duration { return time.Second }, false},
		"fast, then slow": {func(failures, _ int) time.Duration {
			return map[bool]time.Duration{true: 5 * time.Millisecond, false: 10 * time.Second}[failures < 5]
		}, false},
		"longer by a second each time": {func(failures, _ int) time.Duration { return time.Duration(failures) * time.Second }, false},
		"longer by chance":             {func(failures, _ int) time.Duration { return drawn[failures-1] * time.Second }, false},
	} {
		a, now, failures, grows := &attempts{}, time.Duration(0), 0, false
		step := uint64(0)
		tell := func(kind sim.Kind, detail string) {
			step++
			r := &sim.Record{Kind: kind, Step: step, At: now, Detail: detail}
			if kind == fakeapiserver.KindRequest {
				a.again(r)
			} else {
				grows = a.answered(r) || grows
			}
		}
		for round := range ProbeRounds {
			started := now
			for since := range ProbeFailures {
				tell(fakeapiserver.KindRequest, "")
				tell(fakeapiserver.KindResponse, "500")
				failures++
				now += c.delay(failures, since+1)
			}
			if now > started+2*time.Minute {
				t.Logf("%s: round %d is not over when the next one begins", name, round+1)
				break
			}
			tell(fakeapiserver.KindRequest, "")
			tell(fakeapiserver.KindResponse, "200")
			now = started + 2*time.Minute
		}
		if grows != c.want {
			t.Errorf("%s: %t, want %t: rounds %v, in a row %v", name, grows, c.want, a.rounds, a.row)
		}
	}
}
