package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/informersim/informersim/internal/probe"
)

// served is an informersim-apiserver in a process of its own: built-in kinds are tested as users get them, with what a fresh
// cluster has.
type served struct {
	probe.RemoteTarget
	command *exec.Cmd
}

// serveFlags are those of a server without controllers, as kube-apiserver is one.
var serveFlags = []string{"serve", "--addr", "127.0.0.1:0", "--controllers", "", "--authorization-mode", "Node,RBAC"}

// listening begins the line that says where the server listens.
const listening = "serving on "

// serveAll starts n servers from a program, which it builds unless its path is given. The function returned stops them.
func serveAll(ctx context.Context, n int, program string, flags []string) ([]probe.Target, func(), error) {
	dir, err := os.MkdirTemp("", "informersim-apiserver-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a temporary directory: %w", err)
	}
	var targets []probe.Target
	var started []*served
	stop := func() {
		for _, s := range started {
			s.stop()
		}
		os.RemoveAll(dir)
	}
	if program == "" {
		program = filepath.Join(dir, "informersim-apiserver")
		build := exec.CommandContext(ctx, "go", "-C", "..", "build", "-o", program, "./cmd/informersim-apiserver")
		if output, err := build.CombinedOutput(); err != nil {
			stop()
			return nil, nil, fmt.Errorf("build informersim-apiserver: %w\n%s", err, output)
		}
	}
	for range n {
		s, err := serve(program, flags)
		if err != nil {
			stop()
			return nil, nil, err
		}
		started, targets = append(started, s), append(targets, s)
	}
	return targets, stop, nil
}

// serve starts a server and waits until it listens.
func serve(program string, flags []string) (*served, error) {
	s := &served{command: exec.Command(program, flags...)}
	s.command.Stderr = os.Stderr
	out, err := s.command.StdoutPipe()
	if err == nil {
		err = s.command.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url, found := strings.CutPrefix(lines.Text(), listening); found {
			s.URL = strings.TrimSpace(url)
			go func() {
				for lines.Scan() { // so that the server never waits for its reader
				}
			}()
			return s, nil
		}
	}
	s.stop()
	return nil, fmt.Errorf("%s %s: it ended before it listened", program, strings.Join(flags, " "))
}

// stop ends the server.
func (s *served) stop() {
	s.command.Process.Signal(os.Interrupt)
	s.command.Wait()
}
