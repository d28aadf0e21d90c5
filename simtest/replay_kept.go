package simtest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// ReplayKept fails t for each trace in a folder that is no longer a run of the program: for a repository that keeps the traces of known bugs beside their
// report. They are what -simtest.traces keeps of this package's tests that use Find:
//
//	func TestTracesReplay(t *testing.T) { simtest.ReplayKept(t, "../docs/findings") }
//
// Each is replayed by its own test in a process of its own, as -simtest.replay does, from a copy, so that nothing is written beside it. The folder is
// relative to the test's; one without traces fails t, too. ReplayKept is for a test of its own, outside of any Run or Find.
func ReplayKept(t TB, folder string) {
	t.Helper()
	if flags.replay != "" || flags.seed != 0 {
		return // the flag is for one run, of another test
	}
	files, err := filepath.Glob(filepath.Join(folder, "*"+traceSuffix))
	if err != nil {
		fatal(t, "simtest: %s: %v", folder, err)
	}
	if len(files) == 0 {
		fatal(t, "simtest: %s has no traces (*%s): go test . -simtest.traces=%s makes those of what Find finds", folder, traceSuffix, shellQuote(folder))
	}
	for _, file := range files {
		if err := replayKept(file); err != nil {
			t.Errorf("simtest: %v", err)
		}
	}
}

// replayKept replays a copy of a trace.
func replayKept(file string) error {
	test, err := testOfTrace(file)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "informersim-replay-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	trace := filepath.Join(work, filepath.Base(file))
	if err := os.WriteFile(trace, data, 0o600); err != nil {
		return err
	}
	run := testPattern(test)
	cmd := exec.Command(exe, "-test.run="+run, "-simtest.replay="+trace, "-simtest.traces="+work)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		// those of the flags of this process, which are for its own runs
		return strings.HasPrefix(v, "SIMTEST_REPLAY=") || strings.HasPrefix(v, "SIMTEST_SEED=") || strings.HasPrefix(v, "SIMTEST_VERIFY=")
	})
	if path := enginePath(); path != "" {
		cmd.Env = append(cmd.Env, engineEnv+"="+path)
	}
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	switch {
	case strings.Contains(string(out), sameAgain):
		return nil // and the test fails, with what the trace shows
	case err != nil && !errors.As(err, &failed):
		return err
	}
	return fmt.Errorf("%s does not replay: remove it, and make it anew with go test . -run %s -simtest.traces=%s\n%s",
		file, shellQuote(run), shellQuote(filepath.Dir(file)), out)
}

// testOfTrace returns the name of the test whose run a trace is.
func testOfTrace(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadBytes('\n')
	var header struct{ Scenario, Subject string }
	if err == nil {
		err = json.Unmarshal(line, &header)
	}
	if err == nil && (header.Subject != "simtest" || header.Scenario == "") {
		err = errors.New("its first line names none")
	}
	if err != nil {
		return "", fmt.Errorf("%s is no trace of a Go test: %w", file, err)
	}
	return header.Scenario, nil
}
