package newer

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Than returns a file of a working copy that is newer than a program that was built at some time from the folder of that name under cmd/, "" if there is none. It does not
// know which packages are linked: what the go command is asked for in vain is built in a moment.
func Than(built time.Time, source, program string) (file string) {
	_ = filepath.WalkDir(source, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // it is not there, or nobody may read it: then it has not been built from
		case e.IsDir():
			if path != source && isForeign(source, program, path, e.Name()) {
				return filepath.SkipDir
			}
			return nil
		case strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".md") || filepath.Dir(path) == filepath.Clean(source) && !isGo(e.Name()):
			return nil
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().After(built) {
			file = path
			return filepath.SkipAll
		}
		return nil
	})
	return file
}

// isForeign reports whether a folder has nothing that the program is built from: it is another module's, another command's, or documents.
func isForeign(source, program, path, name string) bool {
	if strings.HasPrefix(name, ".") || name == "testdata" || name == "docs" {
		return true
	}
	if filepath.Dir(path) == filepath.Join(source, "cmd") {
		return name != "internal" && name != program
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

// isGo reports whether a file in the root of a module is the go command's. What else is new there, somebody has run or built in it: a trace, a program.
func isGo(name string) bool {
	return strings.HasSuffix(name, ".go") || name == "go.mod" || name == "go.sum"
}
