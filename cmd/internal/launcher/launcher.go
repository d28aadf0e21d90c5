package launcher

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/informersim/informersim/cmd/internal/version"
)

// Env names the environment variable with the path of informersim-apiserver.
const Env = "INFORMERSIM_APISERVER"

// program is the name of the server's executable and of its package under cmd.
const program = "informersim-apiserver"

// ExitStatus is the exit code of a server that ran as a child and did not end with 0. The server has printed why.
type ExitStatus int

func (s ExitStatus) Error() string {
	return program + " ended with exit status " + strconv.Itoa(int(s))
}

// Run finds or builds the server and starts it with the given arguments. On Unix it returns only if that fails.
func Run(ctx context.Context, args []string, stderr io.Writer) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("there is no folder for a cache (%w): install %s and name its path in %s", err, program, Env)
	}
	f := &finder{own: version.Own(), cache: filepath.Join(cache, "informersim", "apiserver"), stderr: stderr, silence: 3 * time.Second}
	f.self, _ = os.Executable() // if unknown, nothing beside it is tried
	if version.Released() {
		f.released = true
	} else {
		f.source = sourceFolder()
	}
	path, err := f.find(ctx)
	if err != nil {
		return err
	}
	return start(path, args)
}

// executable returns a program's file name on this system.
func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}
