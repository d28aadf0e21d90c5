package script

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ParseFile reads and parses a script. The error for a missing, unreadable or oversized file is an *Error without a line.
func ParseFile(path string) (*File, error) {
	src, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, src)
}

// ReadFile reads a script of at most MaxFileSize bytes. It checks the size both before and while reading: a pipe has no
// size, and a file can grow.
func ReadFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, openError(path, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, openError(path, err)
	}
	if info.IsDir() {
		return nil, Errorf(Pos{File: path}, "name a *.sim file in it", "it is a directory")
	}
	if info.Size() > MaxFileSize {
		return nil, tooBig(path, info.Size())
	}
	src, err := io.ReadAll(io.LimitReader(file, MaxFileSize+1))
	if err != nil {
		return nil, openError(path, err)
	}
	if len(src) > MaxFileSize {
		return nil, Errorf(Pos{File: path}, splitHint, "it is over 32 MiB; scripts are limited to 32 MiB")
	}
	return src, nil
}

const splitHint = "split it into several scripts, or import fewer objects"

func tooBig(path string, bytes int64) *Error {
	return Errorf(Pos{File: path}, splitHint, "it is %s; scripts are limited to 32 MiB", FormatSize(bytes))
}

// MissingHint says what to do about a file that is not there.
func MissingHint(path string) string {
	if path == "-" {
		return "for standard input, name /dev/stdin"
	}
	return "check the path"
}

func openError(path string, err error) *Error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Errorf(Pos{File: path}, MissingHint(path), "there is no such file")
	case errors.Is(err, fs.ErrPermission):
		return Errorf(Pos{File: path}, "check its permissions", "permission denied")
	}
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return Errorf(Pos{File: path}, "", "reading it failed: %v", err)
}

// FormatSize formats a size in bytes for a message, rounded up so that a size over a limit never reads as the limit.
func FormatSize(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	tenths := (bytes*10 + 1<<20 - 1) >> 20
	if tenths%10 == 0 {
		return fmt.Sprintf("%d MiB", tenths/10)
	}
	return fmt.Sprintf("%d.%d MiB", tenths/10, tenths%10)
}
