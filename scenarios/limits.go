package scenarios

import (
	"fmt"
	"strings"
	"time"

	"github.com/informersim/informersim/scenarios/script"
)

// The limits of durations in scripts. A value outside them would make a run that does nothing but keep time, or that cannot heal, and
// is a slip of the pen: a run of years takes minutes of real time.
const (
	// leastPeriod is the shortest period of a resync and of compactions; client-go has no shorter one for the resync of a handler.
	leastPeriod = time.Second
	// leastDelay is the shortest delay of a retry; client-go's default begins with 5 ms (I99).
	leastDelay = time.Millisecond
	// maxDuration is a year.
	maxDuration = 365 * 24 * time.Hour
	// maxRetryAfter is the longest that a client may be told to wait: the world must still be able to heal.
	maxRetryAfter = 5 * time.Minute
)

// period reads key as the period of something that repeats: 0s for never, or leastPeriod to maxDuration.
func period(r *script.ArgReader, key string, def time.Duration) time.Duration {
	a, given := r.Key(key)
	d := r.Duration(key, def)
	if given && d != 0 && (d < leastPeriod || d > maxDuration) {
		r.Fail(outside(a, "0s for never, or %s to %s", leastPeriod, maxDuration))
	}
	return d
}

// upTo reads key as a duration from 0s to most.
func upTo(r *script.ArgReader, key string, most time.Duration) time.Duration {
	a, _ := r.Key(key)
	d := r.Duration(key, 0)
	if d > most {
		r.Fail(outside(a, "%s or less", most))
	}
	return d
}

// outside is the error of a duration that cannot be meant. The hint says which can.
func outside(a script.Arg, hint string, limits ...time.Duration) error {
	texts := make([]any, len(limits))
	for i, d := range limits {
		texts[i] = durationText(d)
	}
	name := a.Key
	if name == "" {
		name = "the duration"
	}
	return script.Errorf(a.Pos, "use "+fmt.Sprintf(hint, texts...), "%s: %q is out of range", name, a.Value)
}

// durationText writes a duration without zero units: 5m, 8760h.
func durationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}
