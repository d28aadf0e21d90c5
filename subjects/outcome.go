package subjects

import (
	"fmt"
	"strings"
)

// Outcome is what came of a call of an informer that nobody makes in a run: one that an informer has to refuse, that changes nothing, or that asks
// whether it has synced or stopped.
type Outcome struct {
	Call      string
	Want, Got string
	// Exempt is the bug of docs/spec/bugs.md that upstream has not mended and that comes of the call, "" for none. Properties except it by this name.
	Exempt string
	// Before are the calls that came before it and were answered rightly, with their answers; the last few, oldest first, where several belong together.
	Before []string
}

// maxBefore is how many calls History keeps, and maxAnswer how much of an answer it says.
const (
	maxBefore = 8
	maxAnswer = 80
)

// History keeps the last calls of several that belong together, and describes them when they are asked for.
type History struct {
	calls [maxBefore]struct {
		call string
		got  any
	}
	n int
}

// Add adds a call. Its answer must not change afterwards.
func (h *History) Add(call string, got any) {
	at := &h.calls[h.n%maxBefore]
	at.call, at.got = call, got
	h.n++
}

// Texts describes them.
func (h *History) Texts() (all []string) {
	for n := max(0, h.n-maxBefore); n < h.n; n++ {
		of := h.calls[n%maxBefore]
		got := fmt.Sprint(of.got)
		if len(got) > maxAnswer {
			got = strings.ToValidUTF8(got[:maxAnswer], "") + "…"
		}
		all = append(all, of.call+": "+got)
	}
	return all
}

// What may come of a call.
const (
	Refused  = "an error"
	Accepted = "no error"
)

// OutcomeOf returns the outcome of a call that returns an error or none.
func OutcomeOf(call, want string, err error) Outcome {
	o := Outcome{Call: call, Want: want, Got: Accepted}
	if err != nil {
		o.Got = Refused
	}
	return o
}
