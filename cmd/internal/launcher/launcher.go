package launcher

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/informersim/informersim/cmd/internal/version"
)

// Env names the environment variable with the path of informersim-apiserver.
const Env = "INFORMERSIM_APISERVER"

// ControllersEnv names the environment variable with the path of informersim-controllers.
const ControllersEnv = "INFORMERSIM_CONTROLLER_MANAGER"

// Controllers is the name of the program with Kubernetes' controllers for Go tests.
const Controllers = "informersim-controllers"

// KubectlEnv names the environment variable with the path of a kubectl.
const KubectlEnv = "INFORMERSIM_KUBECTL"

// The names of the executables that are found or built, and of their packages under cmd.
const (
	program = "informersim-apiserver"
	kubectl = "informersim-kubectl"
)

// AskKubectl is the argument for which informersim-kubectl prints its own version: kubectl's command version is kubectl's.
const AskKubectl = "--informersim-version"

// ExitStatus is the exit code of a program that ran as a child and did not end with 0. The program has printed why.
type ExitStatus int

func (s ExitStatus) Error() string { return "it ended with exit status " + strconv.Itoa(int(s)) }

// Run finds or builds the server and starts it with the given arguments. On Unix it returns only if that fails.
func Run(ctx context.Context, args []string, stderr io.Writer) error {
	path, err := Find(ctx, stderr)
	if err != nil {
		return err
	}
	return start(path, args, os.Environ())
}

// Find finds or builds the server, and returns its path.
func Find(ctx context.Context, stderr io.Writer) (path string, err error) {
	f, err := newFinder(&finder{program: program, env: Env, ask: "version"}, "apiserver", stderr)
	if err != nil {
		return "", err
	}
	return f.find(ctx)
}

// FindControllers finds or builds the program with Kubernetes' controllers, with the overlay of Go's runtime, and returns its path.
func FindControllers(ctx context.Context, stderr io.Writer) (path string, err error) {
	f, err := newFinder(&finder{program: Controllers, env: ControllersEnv, ask: "version", overlaid: true}, "controllers", stderr)
	if err != nil {
		return "", err
	}
	return f.find(ctx)
}

// RunKubectl starts the kubectl that KubectlEnv names, or finds or builds informersim-kubectl and starts it. On Unix it returns only if that fails.
func RunKubectl(ctx context.Context, args []string, stderr io.Writer) error {
	if path := os.Getenv(KubectlEnv); path != "" {
		return start(path, args, os.Environ()) // any kubectl will do
	}
	f, err := newFinder(&finder{program: kubectl, env: KubectlEnv, ask: AskKubectl}, "kubectl", stderr)
	if err != nil {
		return err
	}
	path, err := f.find(ctx)
	if err != nil {
		return err
	}
	return start(path, args, os.Environ())
}

// Folder returns the folder below the user's cache for what belongs to this version of the program, or to its working copy.
func Folder(purpose string) (string, error) {
	f, err := newFinder(&finder{program: program, env: Env}, purpose, io.Discard)
	if err != nil {
		return "", err
	}
	return f.cacheFolder(), nil
}

// newFinder completes a finder for this program.
func newFinder(f *finder, folder string, stderr io.Writer) (*finder, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("there is no folder for a cache (%w): install %s and name its path in %s", err, f.program, f.env)
	}
	f.own, f.cache, f.stderr, f.silence = version.Own(), filepath.Join(cache, "informersim", folder), stderr, Silence
	f.self, _ = os.Executable() // if unknown, nothing beside it is tried
	if version.Released() {
		f.released = true
	} else {
		f.source = sourceFolder()
	}
	return f, nil
}

// executable returns a program's file name on this system.
func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}
