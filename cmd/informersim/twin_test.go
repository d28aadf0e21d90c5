package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/subjects/stack"
)

// A process in which a goroutine spins makes no other run, so where there is no guest for them it is said at once that there is no twin.
func TestNoTwinBesideAGoroutineThatSpins(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.trace.jsonl")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := &runner{c: &cobra.Command{}, flags: &runFlags{}, subject: stack.Kind}
	r.c.SetContext(t.Context())
	spins := &reports.Violation{Property: property.NoDeadlock, Message: "a hot loop: it did not come to rest within 30s of real time"}
	if err := r.tryTwin(&reports.Report{Run: &reports.Run{Violation: spins}}, file); err == nil || !strings.Contains(err.Error(), "cannot be left behind") {
		t.Errorf("the error is %v", err)
	}
}
