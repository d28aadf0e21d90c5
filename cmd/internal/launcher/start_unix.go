//go:build unix

package launcher

import (
	"fmt"
	"os"
	"syscall"
)

// start replaces this process with the server.
func start(path string, args []string) error {
	return fmt.Errorf("starting %s: %w", path, syscall.Exec(path, append([]string{path}, args...), os.Environ()))
}
