package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/informersim/informersim/properties/mutants"
	"github.com/informersim/informersim/subjects"
)

// The README's finding is what the command prints for the README's scenario, against a queue with the defect of k115658.
func TestReadmeFinding(t *testing.T) {
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(data), "\nA scenario reads like")
	blocks := strings.Split(section, "\n```\n")
	if len(blocks) < 4 {
		t.Fatal("the README has no scenario and no finding")
	}
	script, finding := blocks[1]+"\n", blocks[3]
	finding, _, shown := strings.Cut(finding, "  see it again\n")
	if !shown {
		t.Fatalf("the README's finding does not say how to see it again:\n%s", finding)
	}
	all := mutants.All()
	bad := all[slices.IndexFunc(all, func(m mutants.Mutant) bool { return m.Name == "replace-forgets-queue-only-keys" })].Kind
	bad.Name = "forgetful"
	withSubject(t, bad)
	inTemp(t, map[string]string{"gap.sim": script})
	if got := command(t, "run", "gap.sim", "--subject", "forgetful"); got.code != exitBroken || !strings.Contains(got.stdout, finding) {
		t.Errorf("exit code %d:\n%s%s\nthe README has\n%s", got.code, got.stdout, got.stderr, finding)
	}
	good := mutants.Flawless(subjects.QueueDelta) // it has nothing to show
	good.Name = "flawless"
	withSubject(t, good)
	if got := command(t, "run", "gap.sim", "--subject", "flawless"); got.code != exitOK {
		t.Errorf("without the defect, exit code %d:\n%s%s", got.code, got.stdout, got.stderr)
	}
}
