package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// Two processes do not build in one folder at the same time: the second one says that it waits, and goes on when the first has ended.
func TestWorkFolder(t *testing.T) {
	dir := t.TempDir()
	var said bytes.Buffer
	c := &cobra.Command{}
	c.SetErr(&said)
	c.SetContext(t.Context())
	release, err := workFolder(c, dir)
	if err != nil {
		t.Fatal(err)
	}
	ended := time.AfterFunc(2*patience, release)
	defer ended.Stop()
	second, err := workFolder(c, dir)
	if err != nil || !strings.Contains(said.String(), "waiting for another informersim that works in "+dir) {
		t.Fatalf("%v; it says %q", err, said.String())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.SetContext(ctx)
	if _, err := workFolder(c, dir); err == nil {
		t.Error("an interrupted command has the folder")
	}
	second()
}
