package main

import "regexp"

// allowance is an accepted difference.
type allowance struct {
	// probe is the probe's name and step matches the step as written.
	probe string
	step  *regexp.Regexp
	// reason says why the difference cannot mislead a client. No allowance may concern list, watch, resourceVersion,
	// conflict or delete semantics.
	reason string
}

// allowed is the whole list of accepted differences between fakeapiserver and a real apiserver.
var allowed = []allowance{}

// allowedBecause returns the reason why a step of a probe may differ, or "" if it may not.
func allowedBecause(name, step string) string {
	for _, a := range allowed {
		if a.probe == name && a.step.MatchString(step) {
			return a.reason
		}
	}
	return ""
}
