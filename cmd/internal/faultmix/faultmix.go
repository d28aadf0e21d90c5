package faultmix

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/fakeapiserver/fault"
)

// Load returns the mix with a built-in name or in a file, or nil for "". When ctx ends, so does the wait for a file.
func Load(ctx context.Context, arg string) (*fault.Mix, error) {
	if arg == "" {
		return nil, nil
	}
	m, nameErr := fault.MixNamed(arg)
	if nameErr == nil {
		return &m, nil
	}
	if !strings.ContainsAny(arg, "./\\") {
		return nil, nameErr
	}
	data, err := cli.Await(ctx, func() ([]byte, error) { return read(arg) })
	if err != nil {
		return nil, fmt.Errorf("--fault-mix: %w", err)
	}
	if m, err = fault.ParseMix(data); err != nil {
		return nil, fmt.Errorf("%s: %w", arg, err)
	}
	if len(m.Rates) == 0 {
		return nil, fmt.Errorf("%s: there are no rates in it, so no fault would happen; write them like rates: {watch-eof: 0.01}, or use the mix none", arg)
	}
	if m.Name == "" {
		m.Name = strings.TrimSuffix(filepath.Base(arg), filepath.Ext(arg))
	}
	return &m, nil
}

// maxFile limits a mix, in bytes. A mix of every fault takes a few thousand; a device has no end.
const maxFile = 1 << 20

func read(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(data) > maxFile {
		return nil, fmt.Errorf("%s has more than %d bytes, which no mix needs", path, maxFile)
	}
	return data, err
}

// Names returns the names of the built-in mixes.
func Names() []string {
	var names []string
	for _, m := range fault.Mixes() {
		names = append(names, m.Name)
	}
	return names
}
