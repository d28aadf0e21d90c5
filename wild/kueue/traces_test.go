package kueue_test

import (
	"testing"

	"github.com/informersim/informersim/simtest"
)

// The traces beside docs/findings.md are runs of these controllers.
func TestTracesReplay(t *testing.T) { simtest.ReplayKept(t, "../../docs/findings/kueue") }
