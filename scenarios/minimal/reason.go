package minimal

import (
	"regexp"
	"strings"

	"github.com/informersim/informersim/reports"
)

// number is what differs between two runs that break for the same reason: revisions, steps, times, the numbers in names.
var number = regexp.MustCompile(`[0-9]+(\.[0-9]+)?(ns|µs|ms|s|m|h)?`)

// Reason returns why a property is broken, without what a simpler run may change: the key, the names of objects, and numbers.
func Reason(v *reports.Violation) string {
	text := v.Message
	if v.Key != "" {
		text = strings.ReplaceAll(text, v.Key, "KEY")
	}
	return v.Property + ": " + number.ReplaceAllString(text, "N")
}
