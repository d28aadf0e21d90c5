package reports

import (
	"fmt"
	"regexp"
)

// FileName is the name, without a suffix, of the files about a run when no other is asked for. It has the subject, the fault mix and the
// strategy unless they are the defaults: a finding does not replace what the same seed has found in another way.
func (r *Run) FileName() string {
	name, strategy := r.Scenario, "fifo"
	if r.Subject != "stack" {
		name += "-" + inFileName(r.Subject)
	}
	if r.Mix != "" && r.Mix != "none" {
		name, strategy = name+"-"+inFileName(r.Mix), "random"
	}
	if r.Strategy != strategy {
		name += "-" + inFileName(r.Strategy)
	}
	return fmt.Sprintf("%s-seed%d", name, r.Seed)
}

var notInFileName = regexp.MustCompile(`[^A-Za-z0-9_.@+]+`)

func inFileName(s string) string { return notInFileName.ReplaceAllString(s, "-") }
