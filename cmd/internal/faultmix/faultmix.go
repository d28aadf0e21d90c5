package faultmix

import (
	"context"
	"fmt"
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
	data, err := cli.Await(ctx, func() ([]byte, error) { return os.ReadFile(arg) })
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

// Names returns the names of the built-in mixes.
func Names() []string {
	var names []string
	for _, m := range fault.Mixes() {
		names = append(names, m.Name)
	}
	return names
}
