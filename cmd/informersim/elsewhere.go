package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/informersim/informersim/cmd/internal/guests"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo"
)

// isGuest tells whether a subject's client-go has a process of its own.
func isGuest(k subjects.Kind) bool { return strings.HasPrefix(k.Name, guests.Prefix) }

// hangs tells whether a run breaks its property because a step took too long. Deadlocks of locks show sooner.
func hangs(v *reports.Violation) bool {
	first, _, _ := strings.Cut(v.Message, "\n")
	return v.Property == property.NoDeadlock && strings.Contains(first, " of real time")
}

// endsProcess tells whether a run breaks its property because it ended the process that made it.
func endsProcess(v *reports.Violation) bool {
	return v.Property == property.NoPanic && strings.HasPrefix(v.Message, subjects.EndedProcess)
}

// hasGuest tells whether runs of a subject are made in a guest where they may harm their process. What the seed interleaves may be another run there, so a program
// that can interleave goroutines makes its runs by itself.
func hasGuest(k subjects.Kind) bool { return k.Name == clientgo.Kind.Name && k.Interleaved == nil }

// forSearch returns the kind of subject with which a run that breaks a property is made again many times. Where each of these runs may end or hang its process,
// that is one in which client-go has a process of its own.
func forSearch(ctx context.Context, k subjects.Kind, v *reports.Violation) (subjects.Kind, error) {
	var err error
	if hasGuest(k) && (hangs(v) || endsProcess(v)) {
		k, err = subjectNamed(ctx, guests.BuiltIn)
	}
	if err != nil || isGuest(k) && !hangs(v) {
		return k, err
	}
	return k.OfMany(), nil
}

// hardy returns the kind of subject with which a run is made of which nobody knows how it ends: whatever it does to its process, this one goes on. Its name stays.
func hardy(ctx context.Context, k subjects.Kind) (subjects.Kind, error) {
	name := k.Name
	var err error
	if hasGuest(k) {
		k, err = subjectNamed(ctx, guests.BuiltIn)
	}
	if isGuest(k) {
		k.Name, k.Many = name, nil
	}
	return k, err
}

// hardyNamed is hardy of the kind of subject of that name.
func hardyNamed(ctx context.Context, name string) (subjects.Kind, error) {
	k, err := subjectNamed(ctx, name)
	if err != nil {
		return k, err
	}
	return hardy(ctx, k)
}

// toGuest makes a run that has ended its process again in a guest, so that it has a trace, which goes to path unless that is empty. r makes its runs
// there from then on. Without a guest, or if the run passes there, all stays as it is.
func (r *runner) toGuest(run *reports.Run, path string) *reports.Run {
	if !crashed(run) {
		return run
	}
	guest, err := forSearch(r.c.Context(), r.subject, run.Violation)
	if err != nil || !isGuest(guest) {
		return run
	}
	there, flags := *r, *r.flags
	there.flags, there.subject, there.repeats = &flags, guest, true
	flags.subject = guest.Name
	res, err := there.decided(there.once(r.c.Context(), run.Seed, path))
	switch {
	case err != nil:
		return run
	case res.Passed():
		if path != "" && r.traceTarget(path).Regular() {
			os.Remove(path) // it is none of the run that is reported
		}
		return run
	}
	there.repeats = r.repeats
	*r = there
	return &res.Run
}

// breaksElsewhere makes the run of a trace once more, in a process of its own. Of runs that deadlock, a search makes many in one process, and what
// an earlier one has locked might be all that a later one shows.
func breaksElsewhere(ctx context.Context, trace []byte) (err error) {
	dir, err := os.MkdirTemp("", "informersim-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, traceFile)
	if err := os.WriteFile(path, trace, 0o600); err != nil {
		return err
	}
	exe, err := thisProgram()
	if err != nil {
		return err
	}
	said, err := exec.CommandContext(ctx, exe, "replay", path).CombinedOutput()
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended) && ended.ExitCode() == exitBroken:
		return nil
	case err != nil && !errors.As(err, &ended):
		return fmt.Errorf("making the smaller run in a process of its own: %w", err)
	}
	return fmt.Errorf("the smaller run deadlocked after others, and did not in a process of its own:\n%s", said)
}
