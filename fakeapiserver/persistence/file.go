package persistence

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/informersim/informersim/fakeapiserver/store"
)

// File is a KV in a file: a log of changes, which a Rewrite shortens to the current state.
type File struct {
	path string
	real string // the path without symbolic links
	disk disk
	info os.FileInfo // of the open file

	end     int64 // where the next record goes
	durable int64 // what the header says
	ragged  bool  // there may be more bytes after the end: of a write that failed
	failed  int   // the size of the last record, if it was refused for want of room
	rewrite int64 // the end from which a Rewrite saves space
	invited bool  // an empty file in the place of this one waits for a Rewrite
	broken  error // why nothing can be written any more
	buffer  []byte
}

var _ KV = (*File)(nil)

// disk is an open file.
type disk interface {
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
}

// slack is how much longer than twice its content a log may get before it is rewritten, in bytes.
const slack = 64 << 20

// ErrInUse is the error of a file that another process has open.
var ErrInUse = errors.New("it is open in another process")

// Open opens or creates a file, and returns its content. It fails, and leaves the file alone, if another process has the file open,
// or if it is damaged, of another layout, or of another program.
func Open(path string) (*File, *State, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file", path)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, err
	}
	f, state, err := load(path, file)
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return f, state, nil
}

func load(path string, file *os.File) (*File, *State, error) {
	if err := lock(file); err != nil {
		return nil, nil, notLocked(path, err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, nil, err
	}
	removeUnfinished(real)
	f := &File{path: path, real: real, disk: file, info: info}
	if info.Size() == 0 {
		if _, err := file.WriteAt(header(0), 0); err != nil {
			return nil, nil, errors.Join(err, file.Truncate(0))
		}
		f.end, f.rewrite = headerSize, slack
		return f, &State{}, f.Sync()
	}
	content := replay{pairs: map[string]Change{}}
	if f.end, err = readLog(bufio.NewReaderSize(file, 1<<20), info.Size(), content.take); err != nil {
		return nil, nil, unreadable(path, err)
	}
	state, err := content.state()
	if err != nil {
		return nil, nil, unreadable(path, err)
	}
	f.durable, f.ragged, f.rewrite = f.end, info.Size() > f.end, 2*content.size+slack
	if err := f.cut(); err != nil {
		return nil, nil, err
	}
	return f, state, nil
}

func notLocked(path string, err error) error {
	if errors.Is(err, ErrInUse) {
		return fmt.Errorf("%s cannot be used: %w: stop that one, or use another file", path, err)
	}
	return fmt.Errorf("%s cannot be locked: %w", path, bare(err))
}

// unreadable says why a file cannot be used, and what to do.
func unreadable(path string, err error) error {
	var newer newerLayout
	switch {
	case errors.Is(err, errForeign):
		return fmt.Errorf("%s was not written by this server, or is damaged: use another file, or a new one", path)
	case errors.Is(err, errOldLayout):
		return fmt.Errorf("%s was written by an older version of this program: it has layout 1, and this version reads layout %d; continue it with that version, or use a new file", path, layout)
	case errors.As(err, &newer):
		return fmt.Errorf("%s was written by a newer version of this program: it has layout %d, the newest known is %d", path, int(newer), layout)
	}
	return fmt.Errorf("%s is damaged: %w; nothing of it is served, and it was not changed: restore a backup, or use another file", path, err)
}

// Write implements KV.
func (f *File) Write(c Change) error {
	if err := f.ready(); err != nil {
		return refused(err)
	}
	f.buffer = appendRecord(f.buffer[:0], f.end, c)
	if len(f.buffer) > maxContent {
		return refused(fmt.Errorf("%s: a write of %d bytes is too large", f.path, len(f.buffer)))
	}
	if err := f.append(f.buffer); err != nil {
		return err
	}
	f.end += int64(len(f.buffer))
	return nil
}

// append writes behind the end, without moving it. If that fails, what has got there is cut off again.
func (f *File) append(b []byte) error {
	if _, err := f.disk.WriteAt(b, f.end); err != nil {
		f.failed, f.ragged = len(b), true
		_ = f.cut() // the next write tries again
		return refused(fmt.Errorf("--data: %s cannot take this write, which was not stored: %w; writes go on by themselves as soon as there is room", f.path, bare(err)))
	}
	f.failed = 0
	return nil
}

// ready returns why nothing can be written.
func (f *File) ready() error {
	if f.broken != nil {
		return f.broken
	}
	if err := f.inPlace(); err != nil {
		return err
	}
	return f.cut()
}

// cut removes what a failed write has left behind the end.
func (f *File) cut() error {
	if !f.ragged {
		return nil
	}
	if err := f.disk.Truncate(f.end); err != nil {
		return fmt.Errorf("--data: %s: what is left of a failed write cannot be removed: %w; until it is, nothing can be written", f.path, bare(err))
	}
	f.ragged = false
	return nil
}

// inPlace returns an error if the path does not name the open file any more.
func (f *File) inPlace() error {
	info, err := os.Stat(f.path)
	f.invited = false
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--data: %s is gone while it is in use, so nothing is written: move it back, or create an empty file there (touch), which then gets everything", f.path)
	case err != nil:
		return fmt.Errorf("--data: %s cannot be found while it is in use, so nothing is written: %w", f.path, bare(err))
	case os.SameFile(info, f.info):
		return nil
	case info.Mode().IsRegular() && info.Size() == 0:
		f.invited = true
		return fmt.Errorf("--data: %s: a new, empty file is in its place, to which the state could not be written yet", f.path)
	}
	return fmt.Errorf("--data: another file has taken the place of %s while that is in use, so nothing is written: move it away and the first one back", f.path)
}

// Sync implements KV.
func (f *File) Sync() error {
	if err := f.disk.Sync(); err != nil {
		f.broken = fmt.Errorf("--data: %s: %w: whether the last writes are on the disk is unknown; start the server again, which finds out", f.path, bare(err))
		return f.broken
	}
	// The header follows, so that what was acknowledged is missed if it is cut off. It need not be durable itself.
	if _, err := f.disk.WriteAt(header(f.end)[durableAt:], durableAt); err == nil {
		f.durable = f.end
	}
	return nil
}

// Check implements KV. After a write that was refused for want of room it tries whether there is some now.
func (f *File) Check() error {
	if err := f.ready(); err != nil || f.failed == 0 {
		return err
	}
	if err := f.append(make([]byte, f.failed)); err != nil {
		return err
	}
	f.ragged = true
	return f.cut()
}

// WantsRewrite implements KV.
func (f *File) WantsRewrite() bool { return f.broken == nil && (f.end > f.rewrite || f.invited) }

// Rewrite implements KV. The new file is complete before it takes the place of the old one.
func (f *File) Rewrite(content func(add func(Change) error) error) error {
	err := f.inPlace()
	if f.broken != nil || err != nil && !f.invited {
		return refused(errors.Join(f.broken, err))
	}
	next, file, err := f.writeNew(content)
	if err == nil {
		err = os.Rename(file.Name(), f.real)
	}
	if err != nil {
		f.rewrite = f.end + slack // later, if it is to save space
		if file != nil {
			err = errors.Join(bare(err), file.Close(), os.Remove(file.Name()))
		}
		return refused(fmt.Errorf("--data: %s cannot be written anew: %w", f.path, err))
	}
	_ = f.disk.Close() // what it has is in the new one
	*f = *next
	if err := syncFolder(filepath.Dir(f.real)); err != nil {
		f.broken = fmt.Errorf("--data: the folder of %s: %w: whether the file's new state is on the disk is unknown; start the server again, which finds out", f.path, bare(err))
	}
	return nil
}

// writeNew writes a file beside the path, and locks it. The file is nil if there is none.
func (f *File) writeNew(content func(add func(Change) error) error) (next *File, file *os.File, err error) {
	if file, err = os.CreateTemp(filepath.Dir(f.real), unfinishedPrefix(f.real)+"*"+unfinishedSuffix); err != nil {
		return nil, nil, err
	}
	if err := lock(file); err != nil {
		return nil, file, err
	}
	if err := file.Chmod(f.info.Mode().Perm()); err != nil {
		return nil, file, err
	}
	next = &File{path: f.path, real: f.real, disk: file, end: headerSize}
	out := bufio.NewWriterSize(io.NewOffsetWriter(file, headerSize), 1<<20)
	if err := content(func(c Change) error {
		next.buffer = appendRecord(next.buffer[:0], next.end, c)
		next.end += int64(len(next.buffer))
		_, err := out.Write(next.buffer)
		return err
	}); err != nil {
		return nil, file, err
	}
	if err := out.Flush(); err != nil {
		return nil, file, err
	}
	if _, err := file.WriteAt(header(next.end), 0); err != nil {
		return nil, file, err
	}
	if err := file.Sync(); err != nil {
		return nil, file, err
	}
	next.durable, next.rewrite = next.end, 2*next.end+slack
	next.info, err = file.Stat()
	return next, file, err
}

// A file that is being written for another is named after it.
const unfinishedSuffix = ".new"

func unfinishedPrefix(path string) string { return "." + filepath.Base(path) + "." }

// removeUnfinished removes what a process that was killed during a Rewrite has left. The file itself must be locked.
func removeUnfinished(path string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return // what is left does no harm
	}
	for _, e := range entries {
		middle, found := strings.CutPrefix(e.Name(), unfinishedPrefix(path))
		if middle, ends := strings.CutSuffix(middle, unfinishedSuffix); found && ends && strings.Trim(middle, "0123456789") == "" {
			_ = os.Remove(filepath.Join(filepath.Dir(path), e.Name())) // likewise
		}
	}
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		err = nil // there are file systems on which a folder needs none
	}
	return errors.Join(err, folder.Close())
}

// Close implements KV.
func (f *File) Close() error { return f.disk.Close() }

// refused is the error of a change that cannot be made.
func refused(err error) error {
	full := errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
	return &store.RefusedError{Full: full, Err: err}
}

// bare is an error without the path, which the message has already.
func bare(err error) error {
	var onPath *fs.PathError
	var onLink *os.LinkError
	switch {
	case errors.As(err, &onPath):
		return onPath.Err
	case errors.As(err, &onLink):
		return onLink.Err
	}
	return err
}
