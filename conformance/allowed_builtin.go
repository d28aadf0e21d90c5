package main

import (
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/informersim/informersim/internal/probe"
)

// knownFile lists the probes of built-in kinds that differ, each with the reason: a line has a probe's name and why it differs. A
// difference that is gone must leave the list.
const knownFile = "testdata/kube-differences.txt"

// readKnown reads the list: a map of names to reasons.
func readKnown(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the known differences: %w", err)
	}
	known := map[string]string{}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, _ := strings.Cut(line, " ")
		if strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s:%d: %s has no reason", path, number, name)
		}
		if known[name] != "" {
			return nil, fmt.Errorf("%s:%d: %s is listed twice", path, number, name)
		}
		known[name] = strings.TrimSpace(reason)
	}
	return known, nil
}

// stale returns the listed probes, out of those played, that do not differ.
func stale(known map[string]string, played []probe.Probe, differing map[string]bool) []string {
	var names []string
	for _, p := range played {
		if known[p.Name] != "" && !differing[p.Name] {
			names = append(names, p.Name)
		}
	}
	sort.Strings(names)
	return names
}

// unknown returns the listed names that no probe has.
func unknown(known map[string]string, all []probe.Probe) []string {
	names := map[string]bool{}
	for _, p := range all {
		names[p.Name] = true
	}
	var missing []string
	for name := range known {
		if !names[name] {
			missing = append(missing, name)
		}
	}
	sort.Strings(missing)
	return missing
}
