package main

import (
	"fmt"

	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/subjects"
)

// interleaveHelp is the help of --interleave.
const interleaveHelp = "have the seed interleave client-go's goroutines within each step: `on` or off (default on for half of the seeds, where this program can; docs/exploration.md)"

// interleaveArgs hands --interleave on to another command line.
func interleaveArgs(value string) []string {
	if value == "" {
		return nil
	}
	return []string{"--interleave", value}
}

// parseInterleave returns what --interleave says of runs of a subject.
func parseInterleave(value string, k subjects.Kind) (scenarios.Interleaving, error) {
	switch value {
	case "":
		return scenarios.InterleaveBySeed, nil
	case "off":
		return scenarios.InterleaveOff, nil
	case "on":
		if err := scenarios.CanInterleave(k); err != nil {
			return 0, fmt.Errorf("--interleave on: %w", err)
		}
		return scenarios.InterleaveOn, nil
	}
	return 0, fmt.Errorf("--interleave %q: use on or off, or leave it out for half of the seeds", value)
}
