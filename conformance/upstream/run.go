package upstream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Result is the outcome of running the extracted tests.
type Result struct {
	Passed []string
	Failed map[string]string // test to its output
	// PassedWithSubtests counts the tests and subtests that passed.
	PassedWithSubtests int
	// Broken says why the run failed although each test passed: it did not compile, or its TestMain found a leaked
	// goroutine.
	Broken string
}

// Run compiles an extraction as a package of the module in moduleDir and runs it. Build flags are those of go build (-race),
// test flags those of a test binary (-test.run=…).
func Run(x *Extraction, moduleDir string, buildFlags, testFlags []string) (*Result, error) {
	temp, err := os.MkdirTemp("", "upstream-tests-")
	if err != nil {
		return nil, fmt.Errorf("upstream: %w", err)
	}
	defer os.RemoveAll(temp)
	overlay, err := writeOverlay(x, moduleDir, temp)
	if err != nil {
		return nil, fmt.Errorf("upstream: %w", err)
	}
	// Compile first and run in the temporary directory: the package's own directory exists only in the overlay.
	binary := filepath.Join(temp, "upstream.test")
	build := append([]string{"test", "-c", "-vet=off", "-overlay=" + overlay, "-o=" + binary}, buildFlags...)
	compile := exec.Command("go", append(build, "./"+x.Target.Dir)...)
	compile.Dir = moduleDir
	if out, err := compile.CombinedOutput(); err != nil {
		return &Result{Broken: strings.TrimSpace(string(out))}, nil
	}
	args := append([]string{"tool", "test2json", binary, "-test.v=test2json", "-test.timeout=10m"}, testFlags...)
	test := exec.Command("go", args...)
	test.Dir = temp
	var stderr bytes.Buffer
	test.Stderr = &stderr
	out, err := test.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, fmt.Errorf("upstream: running the tests: %w", err)
	}
	return parse(out, stderr.String(), err != nil)
}

// writeOverlay writes the files to temp, with an overlay for the go command that places them in the module.
func writeOverlay(x *Extraction, moduleDir, temp string) (string, error) {
	replace := map[string]string{}
	for name, source := range x.Files {
		real := filepath.Join(temp, name+".txt")
		if err := os.WriteFile(real, source, 0o600); err != nil {
			return "", err
		}
		placed, err := filepath.Abs(filepath.Join(moduleDir, x.Target.Dir, name))
		if err != nil {
			return "", err
		}
		replace[placed] = real
	}
	n := 0
	for placed, source := range x.Overlay {
		real := filepath.Join(temp, fmt.Sprintf("adapter%d.txt", n))
		if err := os.WriteFile(real, source, 0o600); err != nil {
			return "", err
		}
		replace[placed] = real
		n++
	}
	encoded, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(temp, "overlay.json")
	return file, os.WriteFile(file, encoded, 0o600)
}

type event struct {
	Action string
	Test   string
	Output string
}

func parse(out []byte, stderr string, failed bool) (*Result, error) {
	r := &Result{Failed: map[string]string{}}
	outputs := map[string]*strings.Builder{}
	general := &strings.Builder{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			general.WriteString(lines.Text() + "\n")
			continue
		}
		test, _, sub := strings.Cut(e.Test, "/")
		if e.Action == "pass" && test != "" {
			r.PassedWithSubtests++
		}
		switch {
		case e.Output != "" && test != "":
			if outputs[test] == nil {
				outputs[test] = &strings.Builder{}
			}
			outputs[test].WriteString(e.Output)
		case e.Output != "":
			general.WriteString(e.Output)
		case test == "" || sub:
		case e.Action == "pass":
			r.Passed = append(r.Passed, test)
		case e.Action == "fail":
			r.Failed[test] = ""
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("upstream: reading the test output: %w", err)
	}
	for test := range r.Failed {
		if b := outputs[test]; b != nil {
			r.Failed[test] = b.String()
		}
	}
	if failed && len(r.Failed) == 0 {
		r.Broken = strings.TrimSpace(general.String() + stderr)
	}
	return r, nil
}
