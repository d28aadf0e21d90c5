package simtest

import (
	"fmt"
	"os"
	"os/exec"

	"github.com/informersim/informersim/simtest/internal/newer"
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
	file := newer.Than(info.ModTime(), source, engineProgram)
	if file == "" {
		return ""
	}
	return fmt.Sprintf("the engine that %s names, %s, is older than %s: it may say what that would not. Build it anew, or unset %s", engineEnv, path, file, engineEnv)
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
