package sim

// DefectError means that informersim itself is wrong, and neither its input nor the stack under test.
type DefectError struct{ Why string }

func (e *DefectError) Error() string { return e.Why + ": this is a bug of informersim" }
