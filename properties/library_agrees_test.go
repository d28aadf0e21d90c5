package properties

import (
	"context"
	"strings"
	"testing"

	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/subjects/kinds"
)

// k141079: of two who wait for a work queue of client-go to drain, one waits for ever. LibraryAgrees exempts that; without the exemption it is what the
// property finds, on unmodified client-go. Our stack has nobody wait: who does asks it whether it drains.
func TestK141079OneOfTwoWhoWaitForADrain(t *testing.T) {
	s, err := scenarios.Parse("idle.sim", []byte("resource pods\ninformer i1 pods\nsettle\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds.All() {
		found := 0
		for seed := range uint64(60) {
			for _, of := range [][]Property{{LibraryAgrees}, WithoutExemptions()} {
				res, err := scenarios.Run(context.Background(), s, scenarios.Options{Subject: kind, Seed: seed, Properties: of})
				if err != nil {
					t.Fatal(err)
				}
				switch v := res.Violation; {
				case v == nil:
				case len(of) > 1 && strings.Contains(v.Message, "how many of two have left it once that key is done"):
					found++
				default:
					t.Errorf("%s, seed %d, %d properties: %v", kind.Name, seed, len(of), v)
				}
			}
		}
		if (found > 0) != (kind.Name == "client-go") {
			t.Errorf("%s: found in %d runs", kind.Name, found)
		}
	}
}
