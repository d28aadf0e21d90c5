package launcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/informersim/informersim/cmd/internal/version"
)

// finder looks for the server in the order documented for the package.
type finder struct {
	program  string            // its name, and that of its package under cmd
	env      string            // names the environment variable with its path
	ask      string            // the argument for which it prints its version
	overlaid bool              // it has to be built with the overlay of Go's runtime
	own      version.Apiserver // what a server has to print
	self     string            // this program's executable, if known
	released bool              // the go command can install own.Module
	source   string            // the root of the working copy that this program was built from, if it is there
	cache    string
	stderr   io.Writer
	silence  time.Duration // how long a build may take before it is announced
}

// find returns the path of a matching server.
func (f *finder) find(ctx context.Context) (string, error) {
	if path := os.Getenv(f.env); path != "" {
		if err := f.check(ctx, path, f.own.Module); err != nil {
			return "", fmt.Errorf("%s: %w", f.env, err)
		}
		if found, err := exec.LookPath(path); err == nil {
			if err := f.checkAge(found); err != nil {
				fmt.Fprintf(f.stderr, "%s: %v not used, since this one is named\n", f.env, err)
			}
		}
		return path, nil
	}
	for _, path := range f.installed() {
		err := f.check(ctx, path, f.own.Module)
		if err == nil {
			err = f.checkAge(path)
		}
		if err == nil {
			return path, nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		fmt.Fprintf(f.stderr, "not used: %v\n", err)
	}
	return f.build(ctx)
}

// installed returns the files to try before building.
func (f *finder) installed() []string {
	var paths []string
	if f.self != "" {
		paths = append(paths, filepath.Join(filepath.Dir(f.self), executable(f.program)))
	}
	if f.source == "" {
		if path, err := exec.LookPath(f.program); err == nil {
			paths = append(paths, path)
		}
		paths = append(paths, filepath.Join(f.cacheFolder(), executable(f.program)))
	}
	var there []string
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			there = append(there, path)
		}
	}
	return there
}

// Overlaid is the last line of what a program that is built with the overlay of Go's runtime prints as its version.
const Overlaid = "with the overlay of Go's runtime\n"

// answerTime limits how long a program may take to print its version.
const answerTime = 30 * time.Second

// check returns an error if the program at a path is not a server of that version, or "" for any, that this program can start.
func (f *finder) check(ctx context.Context, path, module string) error {
	limited, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	cmd := exec.CommandContext(limited, path, f.ask)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s: there is no such file", path)
	case err != nil:
		return fmt.Errorf("%s %s: %w", path, f.ask, err)
	}
	its, err := version.Parse(f.program, string(out))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	case f.overlaid && !strings.HasSuffix(string(out), Overlaid):
		return fmt.Errorf("%s is built without the overlay of Go's runtime: build it with informersim go build, or remove it, and it is built for you", path)
	case module != "" && its.Module != module:
		return fmt.Errorf("%s has version %s, and this informersim has %s: install the same version of both", path, its.Module, module)
	case its.Protocol != f.own.Protocol:
		return fmt.Errorf("%s has protocol number %d, and this informersim has %d: install the same version of both", path, its.Protocol, f.own.Protocol)
	}
	return nil
}

// cacheFolder returns the folder to build the server in: one per version, or per working copy.
func (f *finder) cacheFolder() string {
	if f.source != "" {
		return filepath.Join(f.cache, "source-"+Digest(f.source))
	}
	return filepath.Join(f.cache, strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ':' {
			return '-'
		}
		return r
	}, f.own.Module))
}
