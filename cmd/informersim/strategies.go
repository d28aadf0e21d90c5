package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/informersim/informersim/scenarios"
)

// strategyNames lists the strategies for the help of a flag.
func strategyNames() string {
	last := len(scenarios.Strategies) - 1
	return strings.Join(scenarios.Strategies[:last], ", ") + " or " + scenarios.Strategies[last]
}

const boundsHelp = "what the strategy exhaustive is limited to: `faults=1,delays=2,early=1,within=45s,steps=1000,states=5000000`, or some of these; delays=all for every order"

// parseBounds reads the flag --bounds. What it leaves out has its default.
func parseBounds(text string) (scenarios.Bounds, error) {
	b := scenarios.DefaultBounds
	if text == "" {
		return b, nil
	}
	numbers := map[string]*int{"faults": &b.Faults, "delays": &b.Delays, "early": &b.Early, "steps": &b.Steps, "states": &b.States}
	for _, part := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		n, err := strconv.Atoi(value)
		switch to := numbers[name]; {
		case name == "within":
			if b.Within, err = time.ParseDuration(value); err != nil || b.Within < 0 {
				return b, fmt.Errorf("--bounds: within=%s is not a duration: write one like 45s", value)
			}
		case name == "delays" && value == "all":
			b.Delays = -1
		case to == nil:
			return b, fmt.Errorf("--bounds: there is no bound %q: use faults, delays, early, within, steps or states", name)
		case err != nil || n < 0:
			return b, fmt.Errorf("--bounds: %s=%s is not a number: write one like %s=%d", name, value, name, *to)
		default:
			*to = n
		}
	}
	return b, nil
}
