package fakeserver

import "testing"

// The fake server answers as the model says, whatever is asked.
func TestServerAgrees(t *testing.T) {
	for turn := range uint64(3000) {
		if wrong := Check(turn); wrong != "" {
			t.Errorf("turn %d: %s", turn, wrong)
		}
	}
}
