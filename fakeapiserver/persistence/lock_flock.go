//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package persistence

import (
	"errors"
	"os"
	"syscall"
)

// lock keeps other processes from opening the file. It ends with the process, or when the file is closed.
func lock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrInUse
	}
	return err
}
