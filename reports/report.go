package reports

// A Report is a run as users see it.
type Report struct {
	Run *Run
	// Story explains a failure.
	Story []Line
	// Aftermath is what is left to see after it: it is printed before the story. Log is printed after it.
	Aftermath []Section
	Log       *Section
	// Outputs are what commands printed, in the order of the script; nil if not wanted.
	Outputs []Output
	// Notes say what else a reader must know of a finding, such as that it did not repeat.
	Notes []string
	// Twin is the nearest run that passes, nil if it was not looked for.
	Twin *Twin
	// Replay lists the commands that repeat the run.
	Replay []string
	// Page is the file with the run's HTML report, "" for none.
	Page string
	// Replayed compares the run with the trace that it was to follow; nil for a run of its own.
	Replayed *Replayed
}

// Output is the output of one command of a script.
type Output struct {
	At      string `json:"at"` // file:line:column
	Command string `json:"command"`
	Text    string `json:"text"`
}
