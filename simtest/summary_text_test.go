package simtest

import (
	"slices"
	"testing"
	"time"
)

// The summary is one line with the most frequent faults first.
func TestSummaryText(t *testing.T) {
	for text, s := range map[string]*summary{
		"0 seeds, no faults, 0s of virtual time": newSummary(),
		`2 seeds, 12 faults (b 6, a 3, c 1, d 1, e 1), 41h of virtual time and 90m after the faults had stopped, "early" in 2, "late" in 0`: {
			seeds: 2, faults: map[string]int{"a": 3, "b": 6, "c": 1, "d": 1, "e": 1}, virtual: 41 * time.Hour, calm: 90 * time.Minute, sometimes: map[string]int{"late": 0, "early": 2},
		},
		"1 seed, 6 faults (a 1, b 1, c 1, d 1, and 2 other kinds), 1.5s of virtual time": {
			seeds: 1, faults: map[string]int{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}, virtual: 1500 * time.Millisecond,
			sometimes: map[string]int{"1": 0, "2": 0, "3": 0, "4": 0, "5": 0},
		},
	} {
		if got := s.String(); got != text {
			t.Errorf("got  %s\nwant %s", got, text)
		}
	}
	if got := never(map[string]int{"z": 0, "a": 1, "b": 0}); !slices.Equal(got, []string{"b", "z"}) {
		t.Errorf("never held: %v", got)
	}
}
