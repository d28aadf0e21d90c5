package main

import (
	"strings"
	"testing"

	"github.com/informersim/informersim/bubble"
)

// Interleaving is refused where it is not possible, with what to do.
func TestInterleaveRefuses(t *testing.T) {
	overlay := "informersim go build"
	if bubble.Seeded() {
		overlay = ""
	}
	for _, test := range []struct{ args, want string }{
		{"fuzz --seeds 1..1 --interleave maybe", "use on or off"},
		{"fuzz --seeds 1..1 --interleave=", "--interleave"},
		{"run --interleave on", "the subject stack cannot be interleaved: it has none"},
		{"verify --seeds 1 --interleave on", "the subject stack cannot be interleaved"},
		{"run --seed 1 --subject client-go --interleave on", overlay},
		{"fuzz --seeds 1..1 --subject client-go --interleave on", overlay},
	} {
		if test.want == "" {
			continue
		}
		if c := command(t, strings.Fields(test.args)...); c.code != exitBadInput || !strings.Contains(c.stderr, test.want) {
			t.Errorf("%s: exit code %d, %q, want %q in it", test.args, c.code, c.stderr, test.want)
		}
	}
	if c := command(t, "run", "--seed", "1", "--subject", "client-go", "--interleave", "off"); c.code != exitOK {
		t.Errorf("off is refused: %s", c.stderr)
	}
}
