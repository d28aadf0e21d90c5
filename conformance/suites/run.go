package suites

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Copy copies a project from the module cache, where nothing may be written, and returns the folder.
func Copy(ctx context.Context, p Project, dir string) (string, error) {
	if err := copyModule(ctx, p.Path+"@"+p.Version, dir); err != nil {
		return "", err
	}
	for folder, module := range p.Nested {
		if err := copyModule(ctx, module+"@"+p.Version, filepath.Join(dir, folder)); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func copyModule(ctx context.Context, module, dir string) error {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	cmd.Dir = os.TempDir() // of no module
	output, err := cmd.Output()
	var info struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(output, &info); err != nil || jsonErr != nil || info.Dir == "" {
		return fmt.Errorf("%s: %w %s", cmd, errors.Join(err, jsonErr), info.Error)
	}
	if err := os.CopyFS(dir, os.DirFS(info.Dir)); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".sh" { // modules have no executable files
			err = os.Chmod(path, 0o755)
		}
		return err
	})
}

// Program is the test program of a package. It can be run on one control plane after another.
type Program struct {
	path, folder string
	test2json    string // the tool of Go's distribution
	plain        bool
}

// Build builds the test program of a package of a project, which Copy has copied to source. The next one takes its place.
func Build(ctx context.Context, p Project, source, pkg string) (Program, error) {
	program := Program{path: filepath.Join(source, "suite.test"), folder: filepath.Join(source, pkg), plain: p.Plain}
	tool, err := goCommand(ctx, source, "tool", "-n", "test2json")
	if err != nil {
		return Program{}, err
	}
	program.test2json = strings.TrimSpace(string(tool))
	if err := os.Remove(program.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return Program{}, err
	}
	// go vet says nothing of the server, and has much to read; no debugger reads the program, and half of linking it is for one.
	if _, err := goCommand(ctx, source, "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", program.path, "./"+pkg); err != nil {
		return Program{}, err
	}
	if _, err := os.Stat(program.path); err != nil {
		return Program{}, fmt.Errorf("%s has no tests", pkg)
	}
	return program, nil
}

// goCommand returns what the go command prints on stdout.
func goCommand(ctx context.Context, folder string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = folder
	cmd.Env = environment()
	output, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("%s: %w\n%s", cmd, err, tail(exit.Stderr))
	}
	return output, err
}

func environment() []string {
	return append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
}

// Options say how suites run.
type Options struct {
	Assets string // the folder with the programs of a control plane
	Focus  string // a regular expression; only specs whose names match it run. "" is all of them
}

// Run runs a test program.
func (p Program) Run(ctx context.Context, o Options) (Report, error) {
	args := []string{"-t", p.path, "-test.v=test2json", "-test.timeout=30m"}
	file := p.path + ".json"
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return Report{}, err
	}
	switch {
	case p.plain && o.Focus != "":
		args = append(args, "-test.run="+o.Focus)
	case p.plain:
	default:
		args = append(args, "-ginkgo.json-report="+file, "-ginkgo.no-color")
		if o.Focus != "" {
			args = append(args, "-ginkgo.focus="+o.Focus)
		}
	}
	cmd := exec.CommandContext(ctx, p.test2json, args...)
	cmd.Dir = p.folder
	cmd.Env = append(environment(), "KUBEBUILDER_ASSETS="+o.Assets)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	began := time.Now()
	stdout, testErr := cmd.Output()
	took := time.Since(began)
	if cmd.ProcessState == nil {
		return Report{}, testErr // it has not started
	}
	specs, said, err := parseEvents(stdout)
	if err != nil {
		return Report{}, fmt.Errorf("%s: %w", cmd, err)
	}
	report := Report{Specs: specs, Took: took, Processor: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	said = append(stderr.Bytes(), said...)
	if !p.plain {
		data, err := os.ReadFile(file)
		if err != nil {
			return Report{}, fmt.Errorf("%s wrote no report: %w\n%s", cmd, testErr, tail(said))
		}
		if report.Specs, err = parseGinkgo(data); err != nil {
			return Report{}, fmt.Errorf("%s: %w", file, err)
		}
	}
	if testErr != nil && len(report.Failed()) == 0 { // what failed is no spec
		return Report{}, fmt.Errorf("%s: %w\n%s", cmd, testErr, tail(said))
	}
	if len(report.Specs) == 0 {
		return Report{}, fmt.Errorf("%s ran nothing\n%s", cmd, tail(said))
	}
	return report, nil
}

// tail returns the end of what a program has printed.
func tail(output []byte) []byte {
	return bytes.TrimSpace(output[max(0, len(output)-4000):])
}
