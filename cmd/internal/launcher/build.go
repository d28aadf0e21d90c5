package launcher

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/cmd/internal/version"
)

// build has the go command build the server into the cache and returns its path.
func (f *finder) build(ctx context.Context) (string, error) {
	if f.source == "" && !f.released {
		return "", fmt.Errorf("%s is not installed, and this informersim's source to build it from was not found: "+
			"put %[1]s beside informersim or on the PATH, or name its path in %s", f.program, f.env)
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		return "", fmt.Errorf("%s is not installed, and neither is Go to build it: install Go from https://go.dev/dl, or put %[1]s "+
			"beside informersim or on the PATH, or name its path in %s", f.program, f.env)
	}
	folder := f.cacheFolder()
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", fmt.Errorf("building %s: %w", f.program, err)
	}
	path := filepath.Join(folder, executable(f.program))
	env := append(BuildEnv(), "GOBIN="+folder)
	var flags []string
	if f.overlaid {
		// The overlay is for the toolchain that this program was built with.
		if release := runtime.Version(); !strings.ContainsAny(release, " -") {
			env = append(env, "GOTOOLCHAIN="+release)
		}
		t, edits, err := Overlay(ctx, f.source, env)
		if err != nil {
			return "", fmt.Errorf("building %s: %w", f.program, err)
		}
		tool, env = t.Command, t.Env
		flags = append(flags, "-overlay="+edits)
	}
	var args []string
	if f.source != "" {
		args = slices.Concat([]string{"build", "-C", f.source, "-buildvcs=false", "-o", path}, flags, []string{"./cmd/" + f.program})
	} else {
		args = slices.Concat([]string{"install"}, flags, []string{version.Path + "/cmd/" + f.program + "@" + f.own.Module})
	}
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Env = env
	cmd.Stdout, cmd.Stderr = f.stderr, f.stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	err = Announced(f.stderr, f.silence, f.program, strings.Join(cmd.Args, " "), func() error {
		unlock, err := Lock(ctx, filepath.Join(folder, "lock"))
		if err != nil {
			return err
		}
		defer unlock()
		return cmd.Run()
	})
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", fmt.Errorf("building %s: %s: %w", f.program, strings.Join(cmd.Args, " "), err)
	}
	module := f.own.Module
	if f.source != "" {
		module = ""
	}
	return path, f.check(ctx, path, module)
}

// BuildEnv is the environment in which the go command builds what is kept for later. A foreign GOOS would be useless, and GOBIN is refused with it. The workspace of
// what the user builds is not for it, nor are the flags: -race would be in what is kept for runs without. An empty GOFLAGS would let that of go env -w through.
func BuildEnv() []string {
	return append(os.Environ(), "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH, "GOWORK=off", "GOFLAGS=-mod=readonly")
}

// Silence is how long a build may take before it is announced.
const Silence = 3 * time.Second

// Announced runs a build, and says what is built, and how, if that takes longer than silence. Like the go command, it says nothing if nothing has changed.
func Announced(stderr io.Writer, silence time.Duration, what, how string, build func() error) error {
	started := time.Now()
	done := make(chan error, 1)
	go func() { done <- build() }()
	select {
	case err := <-done:
		return err
	case <-time.After(silence):
	}
	fmt.Fprintf(stderr, "building %s, which takes minutes the first time: %s\n", what, how)
	err := <-done
	if err == nil {
		fmt.Fprintf(stderr, "built %s in %s\n", what, time.Since(started).Round(100*time.Millisecond))
	}
	return err
}

// sourceFolder returns the root of the module that this program was compiled from, "" if it is not on this machine.
func sourceFolder() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		return "" // built with -trimpath
	}
	root := file
	for range 4 { // cmd/internal/launcher/build.go
		root = filepath.Dir(root)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil || !strings.HasPrefix(string(mod), "module "+version.Path+"\n") {
		return ""
	}
	return root
}

// Digest names a folder below the cache after a text, such as a path.
func Digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}
