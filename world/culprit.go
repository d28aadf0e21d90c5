package world

import (
	"regexp"
	"slices"
	"strings"

	"github.com/informersim/informersim/reports"
)

// culprit is what has ended or hung a process, as far as two runs can agree on it.
type culprit struct {
	how   string
	what  string   // the message, without numbers; "" if it is not known
	calls []string // where; of an exit, what was said last
}

// The ways in which a process ends or hangs.
const (
	byPanic = "panic" // or by a fatal error
	byExit  = "exit"
	byHang  = "hang"
)

// The beginnings of what is said of a process's end.
const (
	timedOut     = "panic: test timed out after "
	unknownFatal = "fatal error: the process's own output says which"
)

var numbers = regexp.MustCompile(`0x[0-9a-f]+|\d+`)

// culprit returns what has ended or hung the process of a run, nil if nothing has, or if another run would not be ended by it.
func (o *outcome) culprit() *culprit {
	switch {
	case o.stuck:
		return hang(o.err)
	case !o.dead || strings.HasPrefix(o.crash, timedOut):
		return nil
	case o.crash == "" || strings.HasPrefix(o.crash, reports.Exited):
		status, said, _ := strings.Cut(o.crash, ": ")
		return &culprit{how: byExit, what: status, calls: []string{numbers.ReplaceAllString(said, "0")}}
	}
	c := &culprit{how: byPanic}
	what, calls, _ := strings.Cut(o.crash, "\n  in ")
	if what != unknownFatal {
		c.what = numbers.ReplaceAllString(what, "0")
	}
	c.calls = strings.Split(calls, "\n")
	return c
}

// hang returns what keeps a process from coming to rest, which an error says with the stacks of goroutines: the program's own calls in the first one, the outermost first.
func hang(err error) *culprit {
	if err == nil {
		return nil
	}
	text := err.Error()
	first, _, _ := strings.Cut(text, "\n")
	what, _, _ := strings.Cut(first, " within ") // how long it has been waited for
	c := &culprit{how: byHang, what: what}
	_, stacks, _ := strings.Cut(text, "\nThe whole stack, ")
	for n, line := range strings.Split(stacks, "\n") {
		own, is := strings.CutPrefix(line, "  > ")
		if is {
			c.calls = append(c.calls, own)
		} else if n > 1 && !strings.HasPrefix(line, "    ") {
			break // the next goroutine's
		}
	}
	slices.Reverse(c.calls)
	return c
}

// known reports whether it is known what has happened, and not only how.
func (c *culprit) known() bool { return c.what != "" }

// is reports whether two runs have met the same. What is not known of one of them may be the other's.
func (c *culprit) is(d *culprit) bool {
	if c == nil || d == nil || c.how != d.how || c.what != "" && d.what != "" && c.what != d.what {
		return false
	}
	if c.how == byExit && (c.what == "" || d.what == "") {
		return true
	}
	if c.how != byHang {
		return slices.Equal(c.calls, d.calls)
	}
	// Two looks at one loop see it in different calls, of which the outer ones are the same.
	most := min(len(c.calls), len(d.calls))
	same := 0
	for same < most && c.calls[same] == d.calls[same] {
		same++
	}
	return most > 0 && same >= max(1, most-1)
}
