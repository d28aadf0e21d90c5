package outfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// File is a file that is being written. It takes its place with Commit.
type File struct {
	target Target
	to     string // what f is renamed to; "" for a stream

	mu      sync.Mutex // a run that did not return may still write
	f       *os.File   // nil after Commit or Discard
	written int64
	err     error

	stop        func() bool  // ends the interruption of a stream
	interrupted func() error // why a stream was interrupted
}

// Create begins to write. Opening a FIFO waits for its reader, or for ctx.
func (t Target) Create(ctx context.Context) (*File, error) {
	path, info, err := t.resolve()
	if err != nil {
		return nil, t.wrap(err)
	}
	f := &File{target: t}
	if info != nil && isStream(path, info) {
		if f.f, err = openStream(ctx, path); err == nil {
			// A reader that stops reading holds up the writer.
			stream := f.f
			f.interrupted = ctx.Err
			f.stop = context.AfterFunc(ctx, func() { _ = stream.SetWriteDeadline(time.Unix(1, 0)) }) // what has no deadlines never waits
		}
	} else {
		f.to = path
		f.f, err = beside(path, t.Mode, info)
	}
	if err != nil {
		return nil, t.wrap(err)
	}
	return f, nil
}

func openStream(ctx context.Context, path string) (*os.File, error) {
	if f := openAlready(path); f != nil {
		return f, nil
	}
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		return o.f, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Hidden is what the names of files begin with that are not complete yet. A program that is killed leaves them.
const Hidden = ".informersim-"

// beside creates a hidden file in the folder of path, with the mode and the owner that the file at path has.
func beside(path string, mode fs.FileMode, old fs.FileInfo) (*os.File, error) {
	switch {
	case old != nil:
		mode = old.Mode().Perm()
	case mode == 0:
		mode = 0o666
	}
	for tries := 0; ; tries++ {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf("%s%016x", Hidden, rand.Uint64()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if os.IsExist(err) && tries < 100 {
			continue
		}
		var onPath *fs.PathError
		if errors.As(err, &onPath) { // the name is nothing that the user knows
			return nil, fmt.Errorf("%s cannot be made in its folder %s: %w", path, filepath.Dir(path), onPath.Err)
		}
		if err != nil || old == nil {
			return f, err
		}
		keepOwner(f, old)
		if err := f.Chmod(mode); err != nil { // the umask may have taken bits away
			f.Close()
			os.Remove(name)
			return nil, err
		}
		return f, nil
	}
}

// Write implements io.Writer. After an error every call returns it.
func (f *File) Write(data []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return 0, f.err
	}
	if f.f == nil {
		return 0, fs.ErrClosed
	}
	n, err := f.f.Write(data)
	f.written += int64(n)
	return n, f.failed(err)
}

// failed keeps the first error, which names the target and not the file beside it.
func (f *File) failed(err error) error {
	if err == nil || f.err != nil {
		return f.err
	}
	if errors.Is(err, os.ErrDeadlineExceeded) && f.interrupted != nil {
		f.err = f.interrupted()
		return f.err
	}
	var onPath *fs.PathError
	var onLink *os.LinkError
	switch {
	case errors.As(err, &onPath):
		err = onPath.Err
	case errors.As(err, &onLink):
		err = onLink.Err
	}
	f.err = f.target.wrap(fmt.Errorf("writing %s: %w", f.target.Path, err))
	return f.err
}

// Written is the number of bytes so far.
func (f *File) Written() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.written
}

// Err is the first error of a write.
func (f *File) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *File) sync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.to == "" || f.f == nil {
		return f.err
	}
	return f.failed(f.f.Sync())
}

// Commit puts the file in its place.
func (f *File) Commit() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.f == nil {
		return f.err
	}
	file := f.f
	f.f = nil
	if f.to == "" {
		f.stop()
		if file == os.Stdout || file == os.Stderr {
			return f.err
		}
		return f.failed(file.Close())
	}
	_ = f.failed(file.Close())
	if f.err == nil {
		_, _, f.err = f.target.resolve() // a file may have come there since
		f.err = f.target.wrap(f.err)
	}
	if f.err == nil {
		_ = f.failed(os.Rename(file.Name(), f.to))
	}
	if f.err != nil {
		os.Remove(file.Name())
	}
	return f.err
}

// Discard leaves the target as it was. After Commit it does nothing.
func (f *File) Discard() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.f == nil {
		return
	}
	if f.stop != nil {
		f.stop()
	}
	if f.f != os.Stdout && f.f != os.Stderr {
		f.f.Close()
	}
	if f.to != "" {
		os.Remove(f.f.Name())
	}
	f.f = nil
}
