package assets

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/informersim/informersim/cmd/internal/version"
)

// Names are the programs that envtest looks for.
var Names = []string{"kube-apiserver", "etcd", "kubectl"}

// Write makes a folder with the programs, each of them the server at a path, and returns the folder's absolute path.
func Write(dir, server string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", fmt.Errorf("the folder for envtest's programs: %w", err)
	}
	if server, err = filepath.EvalSymlinks(server); err != nil { // a link to a link would break with it
		return "", err
	}
	for _, name := range Names {
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		if err := place(filepath.Join(dir, name), server); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// place makes the file at a path the server, unless it is already.
func place(path, server string) error {
	want, err := os.Stat(server)
	if err != nil {
		return err
	}
	if done, err := current(path, want); done || err != nil {
		return err
	}
	temporary, err := beside(path, server, want)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	err = os.Rename(temporary, path)
	// Where both are the same file by now, because someone else was quicker, rename does nothing.
	if removed := os.Remove(temporary); err == nil && removed != nil && !errors.Is(removed, fs.ErrNotExist) {
		err = removed
	}
	return err
}

// current tells whether the file at a path is the server, and returns an error if it may not become it.
func current(path string, server fs.FileInfo) (bool, error) {
	switch have, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist): // or a symbolic link to nothing, which is replaced
		return false, nil
	case err != nil:
		return false, err
	case os.SameFile(have, server) || have.Size() == server.Size() && have.ModTime().Equal(server.ModTime()):
		return true, nil
	default:
		return false, ours(path, have)
	}
}

// ours returns an error for a file that this package has not written.
func ours(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file: name another folder", path)
	}
	build, err := buildinfo.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%s is a program that informersim has not written: name another folder, or remove it", path)
	}
	if build.Main.Path == version.Path {
		return nil
	}
	for _, m := range build.Deps {
		if m.Path == version.Path {
			return nil
		}
	}
	return fmt.Errorf("%s is %s, which informersim has not written: name another folder, or remove it", path, build.Path)
}

// beside makes a file in the same folder as path that is the server: a link to it, or a copy.
func beside(path, server string, info fs.FileInfo) (name string, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return "", err
	}
	name = file.Name()
	defer func() {
		if err != nil {
			os.Remove(name)
		}
	}()
	if err := file.Close(); err != nil {
		return "", err
	}
	if link := name + "-link"; os.Link(server, link) == nil {
		return link, os.Remove(name)
	}
	return name, copied(name, server, info)
}

// copied makes the file at a path a copy of the server, with its time, by which it is known.
func copied(path, server string, info fs.FileInfo) error {
	from, err := os.Open(server)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Chmod(0o755), to.Close()); err != nil {
		return err
	}
	return os.Chtimes(path, info.ModTime(), info.ModTime())
}
