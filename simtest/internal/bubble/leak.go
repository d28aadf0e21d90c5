package bubble

// LeakError reports goroutines that a run left behind and that will never end.
type LeakError struct{ Goroutines []Goroutine }

func (e *LeakError) Error() string {
	return "the run has ended, but these goroutines are blocked for good:\n" + listing(e.Goroutines)
}
