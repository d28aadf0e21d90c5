package main

import (
	"bytes"
	"context"
	"os"
	"slices"

	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
)

// play runs a transcript with all properties or one, and writes its result as a reports.Summary.
func (d *driver) play(file, trace, property string, exempt bool) error {
	s, err := scenarios.Load(file)
	if err != nil {
		return err
	}
	o := scenarios.Options{Subject: d.kind, Seed: 1, Properties: properties.All()}
	if !exempt {
		o.Properties = properties.WithoutExemptions()
	}
	if property != "" {
		o.Properties = slices.DeleteFunc(o.Properties, func(p properties.Property) bool { return p.Name != property })
	}
	var steps bytes.Buffer
	if trace != "" {
		o.Trace = &steps
	}
	ctx, cancel := context.WithTimeout(context.Background(), d.timeout)
	defer cancel()
	res, err := scenarios.Run(ctx, s, o)
	if err != nil {
		return err
	}
	if trace != "" {
		if err := os.WriteFile(trace, steps.Bytes(), 0o666); err != nil {
			return err
		}
	}
	return reports.WriteJSON(os.Stdout, reports.Report{Run: &res.Run})
}
