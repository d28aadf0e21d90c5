package reports

// Report is all that is shown of a run.
type Report struct {
	Run *Run
	// Story explains a failure.
	Story []Line
	// Replay are the commands that repeat the run.
	Replay []string
}
