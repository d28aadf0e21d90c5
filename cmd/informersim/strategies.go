package main

import (
	"strings"

	"github.com/informersim/informersim/scenarios"
)

// strategyNames lists the strategies for the help of a flag.
func strategyNames() string {
	last := len(scenarios.Strategies) - 1
	return strings.Join(scenarios.Strategies[:last], ", ") + " or " + scenarios.Strategies[last]
}
