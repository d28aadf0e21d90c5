package rest_test

import (
	"testing"

	model "github.com/informersim/informersim/properties/requests"
)

// The fake apiserver answers as the model says, whatever is asked.
func TestWritesAgree(t *testing.T) {
	for seed := range uint64(100) {
		if wrong := model.Check(seed); wrong != "" {
			t.Errorf("seed %d: %s", seed, wrong)
		}
	}
}
