package clusterapi_test

import (
	"testing"

	"github.com/informersim/informersim/simtest"
)

// The trace beside docs/findings.md is a run of this controller.
func TestTracesReplay(t *testing.T) { simtest.ReplayKept(t, "../../docs/findings/cluster-api") }
