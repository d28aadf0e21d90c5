package simtest

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// staleEngine says, of an engine that INFORMERSIM names and that is older than this module's source, that it is; "" for any other. Versions do not tell: those of a working
// copy are all the same. It is used all the same, since it is what is wanted: a checkout alone makes files new.
func staleEngine(path string) string {
	found, err := exec.LookPath(path)
	if source == "" || err != nil {
		return ""
	}
	info, err := os.Stat(found)
	if err != nil {
		return ""
	}
	newer := changedSince(source, info.ModTime())
	if newer == "" {
		return ""
	}
	return fmt.Sprintf("the engine that %s names, %s, is older than %s: it may say what that would not. Build it anew, or unset %s", engineEnv, path, newer, engineEnv)
}

// warnOfEngine logs that the engine is older than the source, if it is.
func (r *runner) warnOfEngine() {
	r.t.Helper()
	theEngine.Lock()
	defer theEngine.Unlock()
	if e := theEngine.current; e != nil && e.stale != "" {
		r.t.Logf("simtest: %s", e.stale)
	}
}

// changedSince returns a file of a working copy, of those that an engine is built from, that is newer; "" if there is none.
func changedSince(root string, built time.Time) (newer string) {
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // nobody may read it: then it has not been built from
		case e.IsDir():
			if path != root && notInEngine(root, path, e.Name()) {
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

// notInEngine reports whether a folder has nothing that an engine is built from: it is another module's, another command's, or documents.
func notInEngine(root, path, name string) bool {
	if strings.HasPrefix(name, ".") || name == "testdata" || name == "docs" {
		return true
	}
	if filepath.Dir(path) == filepath.Join(root, "cmd") {
		return name != "internal" && name != engineProgram
	}
	return isFile(filepath.Join(path, "go.mod"))
}
