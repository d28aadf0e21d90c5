package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/serveflags"
	"github.com/informersim/informersim/cmd/internal/version"
	"github.com/informersim/informersim/internal/controllermanager"
)

// asCommand makes the test binary act as the command, so that a test that needs a second process can start itself.
const asCommand = "INFORMERSIM_TEST_AS_APISERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// outcome is the result of a command.
type outcome struct {
	code           int
	stdout, stderr string
}

// command runs the command in this process.
func command(t *testing.T, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

// oneRequestAtATime skips a test under -short, as the race detector runs it: it starts servers, which takes ten seconds each there, and asks them one
// thing after the other, as other tests do whose requests meet.
func oneRequestAtATime(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it asks its servers one thing after the other; -short leaves it out")
	}
}

// inTemp changes to a new folder and creates files in it.
func inTemp(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// informersim reads what version prints.
func TestVersion(t *testing.T) {
	got := command(t, "version")
	v, err := version.ParseApiserver(got.stdout)
	if got.code != cli.OK || err != nil || v != version.Own() {
		t.Errorf("%+v: %+v, %v", got, v, err)
	}
	if got := command(t); got.code != cli.OK || !strings.Contains(got.stdout, "informersim-apiserver serve --kubeconfig") {
		t.Errorf("the help is %+v", got)
	}
}

// Every controller that the flag takes can be started.
func TestServeStartsEveryController(t *testing.T) {
	inTemp(t, nil)
	p := serveIn(t, "--controllers", "*")
	p.interrupt()
	if have, want := controllermanager.Names(), serveflags.KubernetesControllers; !slices.Equal(have, want) {
		t.Errorf("there are %q; the flag names %q", have, want)
	}
}
