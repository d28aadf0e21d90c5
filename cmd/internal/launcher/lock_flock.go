//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package launcher

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// Lock waits until no other process builds in the same folder. The lock is also released when the process ends.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	return locked(ctx, file)
}

// LockFolder waits until no other process has locked the folder, which gets no file for that. The lock is also released when the process ends.
func LockFolder(ctx context.Context, path string) (unlock func(), err error) {
	folder, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return locked(ctx, folder)
}

// locked locks a file, and closes it when that fails.
func locked(ctx context.Context, file *os.File) (unlock func(), err error) {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { file.Close() }, nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			file.Close()
			return nil, &os.PathError{Op: "flock", Path: file.Name(), Err: err}
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
