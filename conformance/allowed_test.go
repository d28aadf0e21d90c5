package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/informersim/informersim/conformance/catalogue"
)

// TestAllowancesAreNarrow checks every accepted difference: its probe and step exist, it has a reason, and it concerns
// nothing that informers depend on.
func TestAllowancesAreNarrow(t *testing.T) {
	all, err := catalogue.All()
	if err != nil {
		t.Fatal(err)
	}
	steps := map[string][]string{}
	for _, p := range all {
		for _, s := range p.Steps {
			steps[p.Name] = append(steps[p.Name], s.Text)
		}
	}
	for _, a := range allowed {
		matches := false
		for _, text := range steps[a.probe] {
			matches = matches || a.step.MatchString(text)
		}
		if !matches || a.reason == "" {
			t.Errorf("allowance of %s, step %s, reason %q: no such step, or no reason", a.probe, a.step, a.reason)
		}
		for _, area := range []string{"list", "watch", "continue", "get-matrix", "delete", "compaction", "update", "selector"} {
			if strings.HasPrefix(a.probe, area) {
				t.Errorf("allowance of %s: no difference is accepted there", a.probe)
			}
		}
	}
}

// TestEveryBehaviourIsCited requires a probe for each documented behaviour of the apiserver.
func TestEveryBehaviourIsCited(t *testing.T) {
	all, err := catalogue.All()
	if err != nil {
		t.Fatal(err)
	}
	cited := map[string]bool{}
	for _, p := range all {
		for _, c := range p.Cites {
			cited[c] = true
		}
	}
	for prefix, bounds := range map[string][2]int{"S": {1, 38}, "I": {100, 111}} {
		for n := bounds[0]; n <= bounds[1]; n++ {
			if name := prefix + strconv.Itoa(n); !cited[name] {
				t.Errorf("no probe cites %s", name)
			}
		}
	}
	if len(all) < 250 {
		t.Errorf("%d probes, want at least 250", len(all))
	}
}
