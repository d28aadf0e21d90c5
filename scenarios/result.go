package scenarios

import (
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/script"
)

// Result is what a run came to.
type Result struct {
	reports.Run
	// Outputs are what commands with an output printed.
	Outputs map[*script.Command]string
}
