package world

// life is one life of a process: from its start to its crash. Clients of no process live as long as the run.
type life struct {
	number int64 // in the test's process: 1, 2, …; 0 for clients of no process
	ended  bool
}

func (l *life) end() { l.ended = true }

func (l *life) dead() bool { return l.ended }
