package launcher

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informersim/informersim/bubble/overlay"
)

// RunGo starts the go command that a folder has, with the overlay of Go's runtime as the argument at place behind its command. On Unix it returns only if that fails.
func RunGo(ctx context.Context, folder, command string, args []string, place int) error {
	t, file, err := Overlay(ctx, folder, os.Environ())
	if err != nil {
		return err
	}
	return start(t.Command, slices.Insert(slices.Clone(args), place, "-overlay="+file), stay(t, command))
}

// stay returns the environment in which a command of the go command stays with the toolchain that the overlay is of. A PACKAGE@VERSION that requires a newer Go
// would otherwise be built by that, without the overlay. A test may build what requires a newer one.
func stay(t *overlay.Toolchain, command string) []string {
	if command != "run" && command != "install" || strings.ContainsAny(t.Version, " -") { // which is no name to ask for
		return t.Env
	}
	return append(slices.Clip(t.Env), "GOTOOLCHAIN="+t.Version)
}

// Overlay writes the overlay of Go's runtime to the user's cache, for the toolchain that the go command takes in a folder and an environment. It returns the
// toolchain, as one that takes the overlay, and the overlay's file.
func Overlay(ctx context.Context, folder string, env []string) (*overlay.Toolchain, string, error) {
	t, err := Toolchain(ctx, folder, env)
	if err != nil {
		return nil, "", err
	}
	dir, err := OverlayFolder()
	if err != nil {
		return nil, "", err
	}
	if t, err = t.Overlaid(filepath.Join(dir, "toolchains")); err != nil {
		return nil, "", err
	}
	file, err := overlay.Write(t.Root, dir)
	return t, file, err
}

// Toolchain returns the one that the go command takes in a folder and an environment.
func Toolchain(ctx context.Context, folder string, env []string) (*overlay.Toolchain, error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return nil, fmt.Errorf("the overlay is made from Go's sources, and there is no go command: install Go from https://go.dev/dl (%w)", err)
	}
	return overlay.Ask(ctx, tool, folder, env)
}

// OverlayFolder returns the folder below the user's cache for the overlay of Go's runtime.
func OverlayFolder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("the overlay needs a folder: %w", err)
	}
	return filepath.Join(cache, "informersim", "overlay"), nil
}
