package bubble

// LeakError says that a run left goroutines behind that will never end.
type LeakError struct{ Goroutines []Goroutine }

func (e *LeakError) Error() string {
	return "the run is over, but these goroutines are blocked for good:\n" + listing(e.Goroutines)
}
