package main

import (
	"io"
	"strings"
	"testing"
)

// repeated is a file that has no end, like a device.
type repeated struct{}

func (repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestLimitedEndsWhereAFileMust(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves it out: it reads half a gibibyte in one goroutine")
	}
	n, err := io.Copy(io.Discard, limited(repeated{}))
	if n != maxManifests || err == nil || !strings.Contains(err.Error(), "the file has more than 256 MiB") {
		t.Errorf("%d bytes, %v", n, err)
	}
	if n, err := io.Copy(io.Discard, limited(io.LimitReader(repeated{}, maxManifests))); n != maxManifests || err != nil {
		t.Errorf("a file of just that size: %d bytes, %v", n, err)
	}
}
