//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package simtest

import (
	"os"
	"syscall"
)

// lockFile waits until no other process builds in the same folder. The lock is also released when the process ends.
func lockFile(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	for {
		switch err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err {
		case nil:
			return func() { file.Close() }, nil
		case syscall.EINTR:
		default:
			file.Close()
			return nil, &os.PathError{Op: "flock", Path: path, Err: err}
		}
	}
}
