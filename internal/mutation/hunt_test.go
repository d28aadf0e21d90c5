package mutation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// program writes a driver that says what the lines of a shell script say.
func program(t *testing.T, script string) Program {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	file := filepath.Join(t.TempDir(), "driver")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return Program{File: file, number: 17}
}

func TestHuntRange(t *testing.T) {
	for _, c := range []struct {
		what, script    string
		runs            uint64
		property, wrong string
	}{
		{"a violation", `echo '{"seed":101}'; echo '{"seed":102}'; echo '{"seed":102,"found":{"seed":102,"property":"WorkDrains"}}'`, 2, "WorkDrains", ""},
		{"all pass", `echo '{"seed":101}'; echo '{"seed":102}'; echo '{"seed":0,"done":true}'`, 2, "", ""},
		{"no verdict", `echo '{"seed":101}'; echo '{"seed":101,"error":"the time is up"}'`, 1, "", "the time is up"},
		{"a panic", `echo '{"seed":101}'; echo 'panic: oh no' >&2; exit 2`, 1, "NoPanic", ""},
		{"an end without a panic", `echo '{"seed":101}'; exit 255`, 1, "NoPanic", ""},
		{"an error of the driver's", `echo '{"seed":101}'; echo 'driver: oh no' >&2; exit 2`, 1, "", "ended without an answer: exit status 2: driver: oh no"},
		{"a kill", `echo '{"seed":101}'; kill -9 $$`, 1, "", "ended without an answer: signal: killed"},
		{"the active mutant", `echo '{"seed":101}'; echo "{\"seed\":101,\"error\":\"mutant $INFORMERSIM_MUTANT\"}"`, 1, "", "mutant 17"},
		{"the flags", `echo '{"seed":101}'; echo "{\"seed\":101,\"error\":\"$*\"}"`, 1, "", "-subject stack -first 101 -runs 50 -shrink 0 -timeout 1m0s"},
	} {
		r, err := huntRange(t.Context(), program(t, c.script), "stack", 101, Search{Runs: 50, Timeout: time.Minute}, 0)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		found := ""
		if r.Found != nil {
			found = r.Found.Property
		}
		if r.Runs != c.runs || found != c.property || (r.Error == "") != (c.wrong == "") || !strings.Contains(r.Error, c.wrong) {
			t.Errorf("%s: %d runs, found %q, error %q; want %d, %q, %q", c.what, r.Runs, found, r.Error, c.runs, c.property, c.wrong)
		}
	}
	if _, err := huntRange(t.Context(), program(t, "echo broken >&2; exit 1"), "stack", 1, Search{Runs: 1, Timeout: time.Minute}, 0); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a driver that does not run: %v, want an error with its words", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := huntRange(ctx, program(t, "exec sleep 60"), "stack", 1, Search{Runs: 1, Timeout: time.Minute}, 0); err == nil {
		t.Error("an interrupted search has a result")
	}
}

// A search that most ranges have passed ends.
func TestHuntEndsEarly(t *testing.T) {
	ranges, err := hunt(t.Context(), program(t, `echo '{"seed":0,"done":true}'`), "stack", Search{Runs: 1, Ranges: 5, Timeout: time.Minute})
	if err == nil {
		t.Errorf("a driver that made no run gives %v", ranges)
	}
	ranges, err = hunt(t.Context(), program(t, `echo "{\"seed\":$4}"; echo '{"seed":0,"done":true}'`), "stack", Search{Runs: 1, Ranges: 5, Timeout: time.Minute})
	if err != nil || len(ranges) != 3 {
		t.Fatalf("%d ranges, %v; want 3 of 5", len(ranges), err)
	}
	for n, r := range ranges {
		if want := uint64(n)*rangeOfSeeds + 1; r.First != want || r.Runs != 1 {
			t.Errorf("range %d begins at seed %d and has %d runs, want %d and 1", n, r.First, r.Runs, want)
		}
	}
	killed, err := hunt(t.Context(), program(t, `echo "{\"seed\":$4,\"found\":{\"seed\":$4,\"property\":\"NoPanic\"}}"`), "stack", Search{Runs: 1, Ranges: 5, Timeout: time.Minute})
	if err != nil || len(killed) != 5 {
		t.Errorf("%d ranges, %v; want all 5", len(killed), err)
	}
	if r := (&Result{Ranges: killed}); !r.Killed() || fmt.Sprint(r.Properties()) != "[NoPanic]" {
		t.Errorf("killed %v by %v, want by NoPanic", r.Killed(), r.Properties())
	}
}
