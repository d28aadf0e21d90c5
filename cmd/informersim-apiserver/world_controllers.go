package main

import (
	"context"
	"os"
	"os/exec"
	"time"

	"github.com/informersim/informersim/cmd/internal/launcher"
	"github.com/informersim/informersim/world"
)

// controllersEnd is how long the process with Kubernetes' controllers may take to end.
const controllersEnd = 5 * time.Second

// startControllers starts a process with Kubernetes' controllers, which is built where there is none.
func startControllers() (*world.Manager, error) {
	path, err := launcher.FindControllers(context.Background(), os.Stderr)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &world.Manager{In: out, Out: in, Close: func() {
		in.Close()
		kill := time.AfterFunc(controllersEnd, func() { cmd.Process.Kill() })
		defer kill.Stop()
		cmd.Wait()
	}}, nil
}
