package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

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
