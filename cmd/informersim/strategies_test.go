package main

import (
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/scenarios"
)

func TestParseBounds(t *testing.T) {
	want := scenarios.DefaultBounds
	want.Faults, want.Within, want.Delays = 2, time.Second, -1
	if b, err := parseBounds("faults=2,within=1s,delays=all"); err != nil || b != want {
		t.Errorf("%+v, %v", b, err)
	}
	for text, wrong := range map[string]string{
		"delay=2": `there is no bound "delay"`, "delays=-1": "delays=-1 is not a number", "faults": "faults= is not a number", "within=3": "within=3 is not a duration",
	} { // order: of tests
		if _, err := parseBounds(text); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
