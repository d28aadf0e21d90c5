//go:build !unix

package launcher

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
)

// start runs a program as a child and waits for its end.
func start(path string, args, env []string) error {
	cmd := exec.Command(path, args...)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", path, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = cmd.Process.Signal(s) // on a console the child has already received it
		case err := <-ended:
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return ExitStatus(exit.ExitCode())
			}
			return err
		}
	}
}
