package reports

// A Report is a run as users see it.
type Report struct {
	Run *Run
	// Story explains a failure.
	Story []Line
	// Replay lists the commands that repeat the run.
	Replay []string
}
