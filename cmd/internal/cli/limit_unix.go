//go:build unix

package cli

import (
	"os/signal"
	"syscall"
)

// SurviveFileLimit turns a write beyond the size limit of files (ulimit -f) into an error; by default it kills the process.
func SurviveFileLimit() { signal.Ignore(syscall.SIGXFSZ) }
