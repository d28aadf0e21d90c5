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
