package subjects

// Outcome is what came of a call of an informer that nobody makes in a run: one that an informer has to refuse, that changes nothing, or that asks
// whether it has synced or stopped.
type Outcome struct {
	Call      string
	Want, Got string
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

// AsksAtEnd reports whether a run of so many steps makes calls at its end that have nothing to do with it, on parts or a server of their own. They take as long as a
// thousand steps, so one run in four makes them, and of short ones one in 32.
func AsksAtEnd(steps uint64) bool {
	if steps < 512 {
		return steps%32 == 0
	}
	return steps%4 == 0
}
