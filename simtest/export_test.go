package simtest

// EngineProcess returns the number of the engine's process, 0 if there is none. Only the goroutine of a run may call it.
func EngineProcess() int {
	if e := theEngine.current; e != nil {
		return e.cmd.Process.Pid
	}
	return 0
}

// IsWorker reports whether this process makes runs for another one.
func IsWorker() bool { return workerFor != "" }

// EnginePath returns the path of the engine, which it finds or builds if there is none yet.
func EnginePath() (string, error) {
	e, err := acquire()
	if err != nil {
		return "", err
	}
	defer e.release()
	return e.cmd.Path, nil
}

// Vendored returns which release vendored files are of, and the clone that they are copies of.
func Vendored() (release, source string) { return vendored() }
