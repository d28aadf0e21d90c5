package overlay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Toolchain is a go command and what belongs to it.
type Toolchain struct {
	Command string   // the go command
	Root    string   // its GOROOT
	Version string   // such as go1.27.3
	Env     []string // the environment to run it in

	moduleCache string
}

// Ask returns the toolchain that a go command takes in a folder and an environment, as GOTOOLCHAIN and the go.mod there have it.
func Ask(ctx context.Context, command, folder string, env []string) (*Toolchain, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, command, "env", "-json", "GOROOT", "GOMODCACHE", "GOVERSION")
	cmd.Dir, cmd.Env, cmd.Stderr = folder, env, &stderr
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("%s env GOROOT: %w %s", command, err, strings.TrimSpace(stderr.String()))
	}
	var is struct{ GOROOT, GOMODCACHE, GOVERSION string }
	if err := json.Unmarshal(out, &is); err != nil {
		return nil, fmt.Errorf("%s env -json: %w", command, err)
	}
	return &Toolchain{Command: command, Root: is.GOROOT, Version: is.GOVERSION, Env: env, moduleCache: is.GOMODCACHE}, nil
}

// Downloaded reports whether the go command has downloaded the toolchain. It lies in the module cache then, for whose files the go command refuses any overlay
// since go1.26 (go.dev/issue/78644).
func (t *Toolchain) Downloaded() bool {
	below, err := filepath.Rel(t.moduleCache, t.Root)
	return err == nil && filepath.IsLocal(below)
}

// Overlaid returns the toolchain as one that takes an overlay. It is the same, unless it is downloaded. The go command goes by the names of files, so
// such a one gets another: a link below a folder, which its go command is told to be its GOROOT. What it builds elsewhere may ask for a newer one.
func (t *Toolchain) Overlaid(links string) (*Toolchain, error) {
	if !t.Downloaded() {
		return t, nil
	}
	root, err := link(t.Root, links)
	if err != nil {
		return nil, fmt.Errorf("the go command refuses an overlay of what it has downloaded, such as %s, unless a link gives that another name: %w; or install %s from https://go.dev/dl",
			t.Root, err, t.Version)
	}
	bin := filepath.Join(root, "bin")
	command := filepath.Join(bin, "go")
	if runtime.GOOS == "windows" {
		command += ".exe"
	}
	path := "PATH=" + bin
	if others := last(t.Env, "PATH"); others != "" {
		path += string(os.PathListSeparator) + others
	}
	return &Toolchain{Command: command, Root: root, Version: t.Version, Env: slices.Concat(t.Env, []string{"GOROOT=" + root, "GOTOOLCHAIN=" + t.Version + "+auto", path}), moduleCache: t.moduleCache}, nil
}

// link returns a link to a folder, below another one.
func link(to, below string) (string, error) {
	below, err := filepath.Abs(below)
	if err != nil {
		return "", err
	}
	name := filepath.Join(below, digest([]byte(to))+"-"+filepath.Base(to))
	if is, err := os.Readlink(name); err == nil && is == to {
		return name, nil
	}
	if err := os.MkdirAll(below, 0o755); err != nil {
		return "", err
	}
	if err := os.Symlink(to, name); err != nil {
		if is, readErr := os.Readlink(name); readErr != nil || is != to { // another process may have made it meanwhile
			return "", err
		}
	}
	return name, nil
}

// last returns the value that a variable has in an environment, where the last one counts.
func last(env []string, name string) string {
	for _, e := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value
		}
	}
	return ""
}
