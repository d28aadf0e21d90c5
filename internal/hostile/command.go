package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// input is a command line with its files.
type input struct {
	id    string
	must  verdict
	serve bool // the command is informersim-apiserver serve, which is interrupted if it starts
	args  []string
	env   []string
	files map[string][]byte
	// make creates what is not a plain file.
	make func(dir string) error
	// place is what a refusal names, "" for anything; hasLine tells whether it names a line there.
	place   string
	hasLine bool
	// waits is set for a command that may wait forever, and must end when it is interrupted.
	waits bool
}

func (in *input) dir(c config) string {
	return filepath.Join(c.keep, strings.NewReplacer("/", "_", ".", "_").Replace(in.id))
}

// judge runs a command and checks what it does.
func (c config) judge(in *input) (o outcome) {
	dir := in.dir(c)
	if err := in.create(dir); err != nil {
		return outcome{faults: []string{err.Error()}}
	}
	before, err := sums(dir)
	if err != nil {
		return outcome{faults: []string{err.Error()}}
	}
	code, stdout, stderr, hung := c.execute(in, dir)
	after, err := sums(dir)
	if err != nil {
		return outcome{faults: []string{err.Error()}}
	}
	given := strings.Join(in.args, " ") + strings.Join(in.env, " ")
	for _, data := range in.files { // order: only searched
		given += string(data)
	}
	fault := func(format string, args ...any) { o.faults = append(o.faults, fmt.Sprintf(format, args...)) }
	if hung {
		fault("it hangs")
	}
	o.refused = code == 2
	switch {
	case code == 2:
		o.faults = append(o.faults, badError(stderr, in)...)
		if !maps.Equal(before, after) {
			fault("it was refused, and changed files: %v, before %v", after, before)
		}
		// A trace that was cut is refused for its missing end; what comes before that is worth to be seen.
		cut := strings.Contains(stderr, "complete steps were replayed")
		if stdout != "" && !cut && !strings.HasPrefix(stdout, "serving on ") {
			fault("it was refused, and printed %s", shown(stdout))
		}
	case in.waits && (code == 130 || code == -1 && !hung): // -1: the interrupt came before anything handled it
	case code == 0 || code == 1 || code == 3:
	default:
		fault("exit status %d", code)
	}
	o.faults = append(o.faults, badText(stdout+stderr, given)...)
	if len(o.faults) > 0 {
		fault("%s %s\n    status %d, stderr:\n      %s", strings.Join(in.env, " "), strings.Join(in.args, " "), code, shown(stderr))
	}
	return o
}

func (in *input) create(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for name, data := range in.files { // order: independent files
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			return err
		}
	}
	if in.make != nil {
		return in.make(dir)
	}
	return nil
}

// sums returns the checksum of every file in a folder, and the kind of everything else.
func sums(dir string) (map[string]string, error) {
	all := map[string]string{}
	return all, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		all[path] = d.Type().String()
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all[path] = fmt.Sprintf("%x", sha256.Sum256(data))
		}
		return nil
	})
}

// execute runs the command of an input. A server that starts, and a command that waits, are interrupted.
func (c config) execute(in *input, dir string) (code int, stdout, stderr string, hung bool) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	bin, args := c.bin, in.args
	if in.serve {
		bin = c.apiserver
	}
	cmd := exec.CommandContext(ctx, bin, args...)
	var out, errs syncBuffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(c.keep, "home"), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOCACHE=" + os.Getenv("GOCACHE"), "GOTOOLCHAIN=local"}, in.env...)
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return -1, "", err.Error(), false
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	interrupt := time.NewTicker(20 * time.Millisecond)
	defer interrupt.Stop()
	started := time.Now()
	for {
		select {
		case err := <-done:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return -1, out.String(), err.Error(), true
			}
			return cmd.ProcessState.ExitCode(), out.String(), errs.String(), ctx.Err() != nil
		case <-interrupt.C:
			if in.serve && strings.Contains(out.String(), "serving on ") || in.waits && time.Since(started) > time.Second {
				_ = cmd.Process.Signal(syscall.SIGINT) // it may have ended
				interrupt.Stop()
			}
		}
	}
}
