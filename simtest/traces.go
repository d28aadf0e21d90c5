package simtest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Where traces of failures are kept, relative to the test's folder, unless -simtest.traces names another folder.
const (
	traceFolder = "testdata/simtest"
	traceSuffix = ".trace.jsonl"
)

// path returns the place of a file that is named relative to the test's folder.
func (r *runner) path(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(r.folder, file)
}

// openTraces makes the folder that -simtest.traces names, and sees that files can be made there: what takes hours to find should not be lost then. A
// worker keeps nothing.
func (r *runner) openTraces() error {
	if flags.traces == "" || workerFor != "" {
		return nil
	}
	r.traces = flags.traces
	if err := os.MkdirAll(r.path(r.traces), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(r.path(r.traces), ".informersim-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// keep writes a trace to where those of failures are, if that is where it belongs, else to a temporary file, and returns where it is.
func (r *runner) keep(name string, trace []byte) (string, error) {
	if r.folder != "" && r.shrinking == "" && !r.replaying {
		file, err := r.traceFile(name)
		if err == nil {
			err = os.WriteFile(r.path(file), trace, 0o644)
		}
		if err == nil {
			return file, nil
		}
	}
	f, err := os.CreateTemp("", "informersim-*"+traceSuffix)
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = f.Write(trace)
	return f.Name(), err
}

// traceFile returns the file in which a trace is kept, relative to the test's folder, and makes that file's folder. In a folder of the user's choice the
// file is a new one, as in the engine, which keeps most traces.
func (r *runner) traceFile(name string) (string, error) {
	if r.traces == "" {
		file := filepath.Join(traceFolder, name+traceSuffix)
		return file, os.MkdirAll(filepath.Dir(r.path(file)), 0o755)
	}
	for n := 1; ; n++ {
		file := filepath.Join(r.traces, name+traceSuffix)
		if n > 1 {
			file = filepath.Join(r.traces, fmt.Sprintf("%s-%d%s", name, n, traceSuffix))
		}
		if _, err := os.Lstat(r.path(logFile(file))); err == nil {
			continue
		}
		f, err := os.OpenFile(r.path(file), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		switch {
		case errors.Is(err, fs.ErrExist):
		case err != nil:
			return "", err
		default:
			return file, f.Close()
		}
	}
}

// logFile returns the name of the log beside a trace.
func logFile(trace string) string { return strings.TrimSuffix(trace, traceSuffix) + ".log" }
