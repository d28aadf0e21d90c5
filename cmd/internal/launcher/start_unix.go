//go:build unix

package launcher

import (
	"fmt"
	"os/exec"
	"syscall"
)

// start replaces this process with a program. Of a variable that the environment has twice, the last value counts.
func start(path string, args, env []string) error {
	return fmt.Errorf("starting %s: %w", path, syscall.Exec(path, append([]string{path}, args...), (&exec.Cmd{Env: env}).Environ()))
}
