package minimal

import (
	"regexp"
	"strings"

	"github.com/informersim/informersim/reports"
)

// number is what differs between two runs that break for the same reason: revisions, steps, times, the numbers in names.
var number = regexp.MustCompile(`([0-9]+(\.[0-9]+)?(ns|µs|ms|s|m|h)?)+`)

// identity is an object's uid, which depends on the revisions before it, or an address in the stack of a panic.
var identity = regexp.MustCompile(`0x[0-9a-f]+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// Reason returns why a property is broken, without what a simpler run may change: the key, uids, addresses, and numbers. Where the message names a culprit,
// that is the reason, whoever called it and however often.
func Reason(v *reports.Violation) string {
	if c := v.Culprit(); c != "" {
		return v.Property + ": " + general(c)
	}
	text := v.Message
	if v.Key != "" {
		text = strings.ReplaceAll(text, v.Key, "KEY")
	}
	return v.Property + ": " + general(text)
}

func general(text string) string {
	return number.ReplaceAllString(identity.ReplaceAllString(text, "ID"), "N")
}
