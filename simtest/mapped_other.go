//go:build !unix

package simtest

import (
	"errors"
	"os"
)

// mapped fails: the standard library has no such memory here, and the log of a process that dies is lost.
func mapped(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }
