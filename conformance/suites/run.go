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

// Options say how suites run.
type Options struct {
	Assets string // the folder with the programs of a control plane
	Focus  string // a regular expression; only specs whose names match it run. "" is all of them
}

// Run runs the suites of a package of a project, which Copy has copied to source.
func Run(ctx context.Context, p Project, source, pkg string, o Options) (Report, error) {
	// go vet says nothing of the server, and has much to read.
	args := []string{"test", "-json", "-count=1", "-timeout=30m", "-vet=off", "./" + pkg}
	file := filepath.Join(source, "report.json")
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return Report{}, err
	}
	switch {
	case p.Plain && o.Focus != "":
		args = append(args, "-run="+o.Focus)
	case p.Plain:
	default:
		args = append(args, "-ginkgo.json-report="+file, "-ginkgo.no-color")
		if o.Focus != "" {
			args = append(args, "-ginkgo.focus="+o.Focus)
		}
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "KUBEBUILDER_ASSETS="+o.Assets, "GOWORK=off", "GOFLAGS=-mod=mod")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, testErr := cmd.Output()
	report, said, err := parseEvents(stdout)
	if err != nil {
		return Report{}, fmt.Errorf("%s: %w", cmd, err)
	}
	said = append(stderr.Bytes(), said...)
	if !p.Plain {
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
