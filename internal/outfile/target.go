package outfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Target is a file to be written. The zero value of all but Path allows to replace any file.
type Target struct {
	Path string
	// Flag is what errors begin with, such as "--trace".
	Flag string
	// Default says that nobody gave the path, so that Flag is what names another one.
	Default bool
	// Inputs are files that are read, which must not be replaced. Names of files that do not exist do no harm.
	Inputs []string
	// Replaces tells whether an existing file may be replaced; nil for any. It is not asked about empty files.
	Replaces func(path string) bool
	// Kind is what Replaces accepts, in words: "a trace".
	Kind string
	// Final says that the command has no --force, which the error of a file that may not be replaced names otherwise.
	Final bool
	// Mode is that of a new file, before the umask; 0 is 0o666. An existing file keeps its own.
	Mode fs.FileMode
}

// Check refuses a target that must not be replaced or cannot be written, without touching it: before the work whose result it is to hold.
func (t Target) Check() error {
	path, info, err := t.resolve()
	if err == nil && (info == nil || !isStream(path, info)) {
		var f *os.File
		if f, err = beside(path, t.Mode, info); err == nil {
			err = errors.Join(f.Close(), os.Remove(f.Name()))
		}
	}
	return t.wrap(err)
}

// resolve returns the file behind symbolic links and its state, nil if there is none yet.
func (t Target) resolve() (string, fs.FileInfo, error) {
	info, err := os.Stat(t.Path)
	switch {
	case err == nil && info.IsDir():
		return "", nil, fmt.Errorf("%s is a directory; name a file in it", t.Path)
	case err == nil:
		if err := t.mayReplace(info); err != nil || isStream(t.Path, info) {
			return t.Path, info, err
		}
		path, err := filepath.EvalSymlinks(t.Path)
		return path, info, err
	case !errors.Is(err, fs.ErrNotExist):
		return "", nil, err
	}
	path, err := followed(t.Path)
	return path, nil, err
}

func (t Target) mayReplace(info fs.FileInfo) error {
	for _, input := range t.Inputs {
		if in, err := os.Stat(input); err == nil && os.SameFile(in, info) && in.Mode().IsRegular() {
			return fmt.Errorf("%s is the same file as the input %s, which would be overwritten; name another file", t.Path, input)
		}
	}
	if isStream(t.Path, info) {
		return nil
	}
	for _, out := range []*os.File{os.Stdout, os.Stderr} {
		if o, err := out.Stat(); err == nil && os.SameFile(o, info) {
			return fmt.Errorf("%s is where the command's output goes; name another file", t.Path)
		}
	}
	if t.Replaces != nil && info.Size() > 0 && !t.Replaces(t.Path) {
		way := "name another file, or overwrite it with --force"
		if t.Final {
			way = "name another file, or move it away"
		}
		return fmt.Errorf("%s exists and is not %s; %s", t.Path, t.Kind, way)
	}
	f, err := os.OpenFile(t.Path, os.O_WRONLY, 0) // a rename would not ask whether the file is read-only
	if err != nil {
		return err
	}
	return f.Close()
}

// followed resolves symbolic links of a path whose end does not exist.
func followed(path string) (string, error) {
	for range 40 {
		folder, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return "", err
		}
		path = filepath.Join(folder, filepath.Base(path))
		link, err := os.Readlink(path)
		if err != nil {
			return path, nil
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(folder, link)
		}
		path = link
	}
	return "", fmt.Errorf("%s: too many symbolic links", path)
}

// isStream tells whether a file is written to as it is: devices, FIFOs and what is open already.
func isStream(path string, info fs.FileInfo) bool {
	return !info.Mode().IsRegular() || openAlready(path) != nil
}

// openAlready is the standard stream that a path stands for. Opening the path again would write from the start of the file
// that the stream goes to.
func openAlready(path string) *os.File {
	switch filepath.ToSlash(filepath.Clean(path)) {
	case "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		return os.Stdout
	case "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2":
		return os.Stderr
	}
	return nil
}

// Regular tells whether the target is, or will be, a file that can be read again.
func (t Target) Regular() bool {
	info, err := os.Stat(t.Path)
	return err != nil || !isStream(t.Path, info)
}

// Write writes the whole file. It is on the disk when Write returns.
func (t Target) Write(ctx context.Context, data []byte) error {
	f, err := t.Create(ctx)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.sync(); err != nil {
		return err
	}
	return f.Commit()
}

func (t Target) wrap(err error) error {
	switch {
	case err == nil || t.Flag == "":
		return err
	case t.Default:
		return fmt.Errorf("%w (%s names another file)", err, t.Flag)
	}
	return fmt.Errorf("%s: %w", t.Flag, err)
}
