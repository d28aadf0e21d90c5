package launcher

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// checkAge returns an error if the source that this program was built from has changed since the program at a path was built. Versions do not tell: those of a
// working copy are all the same.
func (f *finder) checkAge(path string) error {
	if f.source == "" {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if newer := f.changedSince(info.ModTime()); newer != "" {
		return fmt.Errorf("%s is older than %s, so what is built from that is", path, newer)
	}
	return nil
}

// changedSince returns a file of the program's source that is newer, "" if there is none. It does not know which packages are linked: what the go command is asked for in vain is
// built in a moment.
func (f *finder) changedSince(built time.Time) (newer string) {
	_ = filepath.WalkDir(f.source, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // it is not there, or nobody may read it: then it has not been built from
		case e.IsDir():
			if path != f.source && f.isForeign(path, e.Name()) {
				return filepath.SkipDir
			}
			return nil
		case strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".md"):
			return nil
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().After(built) {
			newer = path
			return filepath.SkipAll
		}
		return nil
	})
	return newer
}

// isForeign reports whether a folder of a working copy has nothing that the program is built from: it is another module's, another command's, or documents.
func (f *finder) isForeign(path, name string) bool {
	if strings.HasPrefix(name, ".") || name == "testdata" || name == "docs" {
		return true
	}
	if filepath.Dir(path) == filepath.Join(f.source, "cmd") {
		return name != "internal" && name != f.program
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}
