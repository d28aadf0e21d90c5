//go:build unix

package main

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

// Ctrl-C while tests are built is no fault of theirs.
func TestInterruptOfABuildOfWild(t *testing.T) {
	const modules = "wild/"
	inTemp(t, map[string]string{
		"go.mod":                      "module github.com/informersim/informersim\n\ngo 1.26\n",
		modules + "example/go.mod":    "module example\n\ngo 1.26\n",
		modules + "example/a_test.go": "package example\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n",
		"bin/go":                      "#!/bin/sh\n> ../../begun\nexec sleep 60\n",
	})
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod("bin/go", 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", root+"/bin:"+os.Getenv("PATH"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if _, err := os.Stat(root + "/begun"); err == nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if got := commandIn(ctx, "wild"); got.code != exitInterrupted || strings.Contains(got.stderr, "do not build") {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
}
