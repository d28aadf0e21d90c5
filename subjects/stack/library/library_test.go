package library

import "testing"

// Our stack does what the models say, whatever is drawn.
func TestStackAgrees(t *testing.T) {
	for n, of := range checks {
		t.Run(of.part, func(t *testing.T) {
			for round := range uint64(300) {
				turn := round*uint64(len(checks)) + uint64(n)
				for _, o := range Check(turn) {
					t.Fatalf("turn %d: %s: %s, want %s", turn, o.Call, o.Got, o.Want)
				}
			}
		})
	}
}
