package reports

import (
	"fmt"
	"strings"
)

// A Difference is the first one between the runs of two subjects.
type Difference struct {
	Point       int    // the index of the quiescent point, from 1
	Command     string // that the run waited for
	Topic       string
	Sides       [2]string // the names of the subjects
	Left, Right []string
}

// String renders the difference for a terminal.
func (d *Difference) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "after %q (quiescent point %d): %s\n", d.Command, d.Point, d.Topic)
	for i, lines := range [][]string{d.Left, d.Right} {
		fmt.Fprintf(&b, "  %s\n", d.Sides[i])
		if len(lines) == 0 {
			fmt.Fprintf(&b, "    (nothing)\n")
		}
		for _, l := range lines {
			fmt.Fprintf(&b, "    %s\n", l)
		}
	}
	return Plain(b.String())
}
