package scenarios

import (
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/script"
)

// A Result is the outcome of a run.
type Result struct {
	reports.Run
	// Outputs holds the output of each command that has one.
	Outputs map[*script.Command]string
}
