package main

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/stack"
)

func TestVerify(t *testing.T) {
	t.Setenv(asCommand, "1") // for the process that verify starts
	inTemp(t, map[string]string{"small.sim": small})
	for _, args := range [][]string{
		{"verify", "--seeds", "4", "--repeat", "2"},
		{"verify", "small.sim", "--seeds", "4", "--repeat", "2", "--subject", "client-go", "--fault-mix", "storm"},
		{"verify", "small.sim", "--seeds", "4", "--repeat", "2", "--strategy", "fifo"},
	} {
		out := command(t, args...)
		if out.code != exitOK || !strings.HasPrefix(out.stdout, "4 seeds × 2 runs: 4 distinct hashes\n") {
			t.Errorf("%v: exit code %d\n%s%s", args, out.code, out.stdout, out.stderr)
		}
	}
}

// verifyOf returns the result of verifying a subject.
func verifyOf(t *testing.T, k subjects.Kind) error {
	t.Helper()
	t.Setenv(asCommand, "1")
	inTemp(t, nil) // for traces of a difference
	root := newRoot(nil)
	root.SetContext(t.Context())
	f := &verifyFlags{seeds: 3, repeat: 3, subject: defaultSubject, strategy: "random"}
	v := &verifier{
		runner: &runner{c: root, flags: &runFlags{strategy: "random"}, scenario: scenarios.BuiltIn(), subject: k},
		first:  1, seeds: f.seeds, repeat: f.repeat, args: append([]string{"verify"}, f.childArgs(nil)...),
	}
	return v.verify(t.Context(), io.Discard)
}

// The negative control: a subject that differs from run to run is detected, and the first step that differs is shown.
func TestVerifyFindsNondeterminism(t *testing.T) {
	if err := verifyOf(t, stack.Kind); err != nil {
		t.Fatalf("the control: %v", err)
	}
	var lists atomic.Int64
	err := verifyOf(t, stack.With(stack.Parts{
		ListOptions: func(o *metav1.ListOptions) { n := 1000 + lists.Add(1); o.TimeoutSeconds = &n }, // earlier runs have an effect
	}))
	var diverged *sim.DivergedError
	if !errors.As(err, &diverged) {
		t.Fatalf("the error is %v", err)
	}
	if diverged.Step == 0 || !strings.Contains(err.Error(), "run 1 has") || !strings.Contains(err.Error(), "run 2 has") ||
		strings.Count(err.Error(), "timeout=100") != 2 {
		t.Errorf("the error does not show both sides of the step: %v", err)
	}
}

// A subject that differs only between processes is detected too.
func TestVerifyComparesProcesses(t *testing.T) {
	err := verifyOf(t, stack.With(stack.Parts{
		ListOptions: func(o *metav1.ListOptions) { n := int64(77); o.TimeoutSeconds = &n }, // the other process has the unchanged stack
	}))
	var diverged *sim.DivergedError
	if !errors.As(err, &diverged) || !strings.Contains(err.Error(), "a process with GOMAXPROCS=") {
		t.Fatalf("the error is %v", err)
	}
}

func TestDiff(t *testing.T) {
	inTemp(t, map[string]string{"small.sim": small})
	for _, args := range [][]string{{"diff", "--seeds", "8"}, {"diff", "small.sim"}, {"diff", "--seeds", "5..6"}} {
		out := command(t, args...)
		if out.code != exitOK || !strings.Contains(out.stdout, ", 0 differ\n") {
			t.Errorf("%v: exit code %d\n%s%s", args, out.code, out.stdout, out.stderr)
		}
	}
	if out := command(t, "diff", "--seeds", "0"); out.code != exitBadInput {
		t.Errorf("--seeds 0 ends with %d: %s", out.code, out.stderr)
	}
}

// Ctrl-C also ends the other process, and is reported instead of that one's failure.
func TestVerifyInterrupted(t *testing.T) {
	t.Setenv(asCommand, "1") // for the process that verify starts
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	got := commandIn(ctx, "verify", "--seeds", "1000000", "--repeat", "2")
	if want := regexp.MustCompile(`^(seed \d+: )?interrupted\n$`); got.code != exitInterrupted || !want.MatchString(got.stderr) {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
}

// What verify says of a trace's run names the trace: the scenario is not a file, and without one `run` plays another.
func TestVerifyTraceSaysHowToSeeItAgain(t *testing.T) {
	inTemp(t, map[string]string{"lost.sim": "resource pods\ninformer i1 pods\nsettle\nfault i1 watch=drop\ncreate pods default/a\nadvance 1m\n"})
	if got := command(t, "run", "lost.sim", "--trace", "lost.trace.jsonl"); got.code != exitBroken {
		t.Fatalf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	got := command(t, "verify", "lost.trace.jsonl")
	if want := "see it again\n    informersim replay lost.trace.jsonl\n"; got.code != exitBroken || !strings.Contains(got.stdout, want) || strings.Contains(got.stdout, "informersim run") {
		t.Errorf("exit code %d, want %q:\n%s%s", got.code, want, got.stdout, got.stderr)
	}
}
