package sequence

import (
	"strings"
	"testing"

	"github.com/informersim/informersim/internal/probe"
)

func TestGenerateIsDeterministicAndParses(t *testing.T) {
	verbs := map[string]bool{}
	for seed := range uint64(300) {
		p, err := Generate(seed, 25)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Generate(seed, 25)
		if err != nil || p.String() != again.String() {
			t.Fatalf("seed %d gives two scripts (%v)", seed, err)
		}
		for _, s := range p.Steps {
			verbs[s.Verb] = true
		}
	}
	for _, verb := range []string{"create", "put", "merge", "json", "apply", "delete", "DELETE", "get", "list", "watch", "events", "compact"} {
		if !verbs[verb] {
			t.Errorf("no sequence has a %s", verb)
		}
	}
}

func TestShrinkKeepsWhatMatters(t *testing.T) {
	p, err := Generate(7, 40)
	if err != nil {
		t.Fatal(err)
	}
	needed := []string{p.Steps[3].Text, p.Steps[20].Text}
	holds := func(p probe.Probe) bool {
		text := p.String()
		return strings.Contains(text, needed[0]+"\n") && strings.Contains(text, needed[1]+"\n")
	}
	short := Shrink(p, 1000, holds)
	if len(short.Steps) != 2 || !holds(short) {
		t.Fatalf("shrunk to %d steps, want the 2 needed ones:\n%s", len(short.Steps), short)
	}
}

func TestShrinkStopsTrying(t *testing.T) {
	p, err := Generate(7, 40)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	Shrink(p, 10, func(probe.Probe) bool { asked++; return false })
	if asked != 10 {
		t.Fatalf("tried %d times, want 10", asked)
	}
}

func TestGenerateBuiltinIsDeterministicAndParses(t *testing.T) {
	verbs, kinds := map[string]bool{}, map[string]bool{}
	for seed := range uint64(300) {
		p, err := GenerateBuiltin(seed, 25)
		if err != nil {
			t.Fatal(err)
		}
		again, err := GenerateBuiltin(seed, 25)
		if err != nil || p.String() != again.String() {
			t.Fatalf("seed %d gives two scripts (%v)", seed, err)
		}
		for _, s := range p.Steps {
			verbs[s.Verb] = true
			kind, _, _ := strings.Cut(s.Target, "/")
			kinds[kind] = true
		}
		if services := strings.Contains(p.String(), "services"); services != p.AnyRevision {
			t.Fatalf("seed %d has Services: %v, and its revisions do not count: %v", seed, services, p.AnyRevision)
		}
	}
	for _, verb := range []string{"create", "put", "merge", "strategic", "json", "apply", "delete", "DELETE", "get", "list", "watch", "events"} {
		if !verbs[verb] {
			t.Errorf("no sequence has a %s", verb)
		}
	}
	for _, kind := range []string{"pods", "deployments", "services", "configmaps", "secrets", "jobs"} {
		if !kinds[kind] {
			t.Errorf("no sequence has %s", kind)
		}
	}
}
