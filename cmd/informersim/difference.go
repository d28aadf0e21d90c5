package main

import (
	"fmt"
	"strings"

	"github.com/informersim/informersim/sim"
)

// report returns an error with both sides of the first step that differs.
func (d *difference) report() error {
	left, right := splitSteps(d.left), splitSteps(d.right)
	for i := 0; i < len(left) || i < len(right); i++ {
		var a, b string
		if i < len(left) {
			a = left[i]
		}
		if i < len(right) {
			b = right[i]
		}
		if a == b {
			continue
		}
		return &sim.DivergedError{Step: uint64(i), Why: fmt.Sprintf("seed %d: run 1 has\n%s%s has\n%s", d.seed, side(a), d.what, side(b))}
	}
	return &sim.DivergedError{Why: fmt.Sprintf("seed %d: the hash of %s differed from that of run 1, but they agreed when both were run again", d.seed, d.what)}
}

func side(block string) string {
	if block == "" {
		return "  (the run has ended)\n"
	}
	var b strings.Builder
	for _, line := range strings.Split(strings.TrimRight(block, "\n"), "\n") {
		b.WriteString("  " + line + "\n")
	}
	return b.String()
}

// splitSteps splits a trace into steps; step 0 is the header. It leaves out hashes, which all differ after the first difference.
func splitSteps(trace []byte) []string {
	var steps []string
	for _, line := range strings.SplitAfter(string(trace), "\n") {
		if line == "" {
			continue
		}
		if strings.HasPrefix(line, `{"r":`) && len(steps) > 0 {
			steps[len(steps)-1] += line
			continue
		}
		if k := strings.LastIndex(line, `,"h":"`); k >= 0 && strings.HasPrefix(line, `{"s":`) {
			line = line[:k] + "}\n"
		}
		steps = append(steps, line)
	}
	return steps
}
