package main

import (
	"strings"
	"testing"
)

// An exploration that passes says that it did not look at what the script expects: a transcript would fail here.
func TestExplorationSaysWhatItDoesNotCompare(t *testing.T) {
	inTemp(t, map[string]string{"wrong.sim": small + "\nexpect i1 count=7\n"})
	if got := command(t, "run", "wrong.sim"); got.code != exitBroken || !strings.Contains(got.stdout, "informer i1 holds 1 objects, want 7") {
		t.Fatalf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	for _, seeds := range []string{"3", "1..3"} {
		got := command(t, "run", "wrong.sim", "--seed", seeds)
		if want := "not compared: 2 expectations of the script; an exploration checks properties only\n"; got.code != exitOK || !strings.Contains(got.stdout, want) {
			t.Errorf("--seed %s: exit code %d, want %q:\n%s%s", seeds, got.code, want, got.stdout, got.stderr)
		}
	}
	got := command(t, "fuzz", "wrong.sim", "wrong.sim", "--seeds", "1..3")
	if want := "not compared: 4 expectations of the scripts; an exploration checks properties only\n"; got.code != exitOK || !strings.Contains(got.stdout, want) {
		t.Errorf("fuzz: exit code %d, want %q:\n%s%s", got.code, want, got.stdout, got.stderr)
	}
}
