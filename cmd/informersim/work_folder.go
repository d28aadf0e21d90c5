package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/launcher"
)

// patience is how long another process may have a folder before the user is told what is waited for.
const patience = time.Second

// workFolder makes the folder in which programs with defects are built its caller's until release is called: what another process built there meanwhile would be
// run in their place, under their names.
func workFolder(c *cobra.Command, dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("--work: %w", err)
	}
	file := filepath.Join(dir, "lock")
	soon, cancel := context.WithTimeout(c.Context(), patience)
	defer cancel()
	release, err = launcher.Lock(soon, file)
	if errors.Is(err, context.DeadlineExceeded) {
		fmt.Fprintf(c.ErrOrStderr(), "waiting for another informersim that works in %s; with --work, name a folder for this one\n", dir)
		release, err = launcher.Lock(c.Context(), file)
	}
	if err != nil {
		return nil, fmt.Errorf("--work: %w", err)
	}
	return release, nil
}
