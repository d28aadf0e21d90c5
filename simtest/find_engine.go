package simtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// Where an engine is looked for.
const (
	engineEnv     = "INFORMERSIM" // a path of informersim or informersim-apiserver
	engineProgram = "informersim-apiserver"
	engineModule  = "github.com/informersim/informersim"
	ownModule     = engineModule + "/simtest"
)

// release is the version of this module, wire.Devel for a working copy; source is the folder of a working copy, "" for a release.
var release, source = ownVersion()

var versionInPath = regexp.MustCompile(`/simtest@([^/]+)/[^/]+$`)

// ownVersion reads the version from where this file lay when it was compiled: in the module cache its folder is named after it. The build
// information of a test has no versions.
func ownVersion() (release, source string) {
	_, file, _, _ := runtime.Caller(0)
	file = filepath.ToSlash(file)
	if m := versionInPath.FindStringSubmatch(file); m != nil {
		return m[1], ""
	}
	if strings.Contains(file, "/vendor/"+ownModule+"/") {
		return vendored()
	}
	return wire.Devel, cloneOf(filepath.Dir(file))
}

// cloneOf returns the folder of the clone that this module's folder is in, "" if it is in none.
func cloneOf(folder string) string {
	if root := filepath.Dir(folder); isFile(filepath.Join(root, "cmd", engineProgram, "main.go")) {
		return root
	}
	return ""
}

// vendored asks the go command for this module's version, or the folder that the vendored files are copies of.
func vendored() (release, source string) {
	out, err := exec.Command("go", "list", "-m", "-json", ownModule).Output()
	var m struct {
		Version string
		Replace *struct{ Version, Dir string }
	}
	switch {
	case err != nil || json.Unmarshal(out, &m) != nil || m.Version == "":
		return wire.Devel, ""
	case m.Replace == nil:
		return m.Version, ""
	case m.Replace.Version != "":
		return m.Replace.Version, ""
	}
	return wire.Devel, cloneOf(m.Replace.Dir)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// findEngine starts an engine: the one that INFORMERSIM names, the first on the PATH that fits, or one that was or is built from this module's own
// version. A working copy is always built, which takes a moment if nothing has changed: only the go command knows whether its source has.
func findEngine() (*engine, error) {
	if path := os.Getenv(engineEnv); path != "" {
		e, err := startEngine(path)
		switch {
		case (errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound)) && !filepath.IsAbs(path):
			return nil, fmt.Errorf("%s: %w: it is looked for from the test's folder, so name an absolute path", engineEnv, err)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", engineEnv, err)
		}
		if e.stale = staleEngine(path); e.stale != "" && workerFor == "" {
			fmt.Fprintf(os.Stderr, "simtest: %s\n", e.stale)
		}
		return e, nil
	}
	var places []string
	if source == "" {
		for _, name := range []string{engineProgram, "informersim"} {
			if path, err := exec.LookPath(name); err == nil {
				places = append(places, path)
			}
		}
		if folder, err := engineFolder(); err == nil {
			if path := filepath.Join(folder, executable(engineProgram)); isFile(path) {
				places = append(places, path)
			}
		}
	}
	for _, path := range places {
		e, err := startEngine(path)
		if err == nil {
			return e, nil
		}
		fmt.Fprintf(os.Stderr, "simtest: not used as the engine: %v\n", err)
	}
	path, err := buildEngine()
	if err != nil {
		return nil, err
	}
	return startEngine(path)
}

// executable returns a program's file name on this system.
func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// engineFolder returns the folder in which this version's engine is built, the same as that of `informersim serve`.
func engineFolder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("there is no folder for a cache (%w): install %s and name its path in %s", err, engineProgram, engineEnv)
	}
	name := strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(release)
	if source != "" {
		sum := sha256.Sum256([]byte(source))
		name = "source-" + hex.EncodeToString(sum[:8])
	}
	return filepath.Join(cache, "informersim", "apiserver", name), nil
}

// buildSilence is how long a build may take before it is announced: the go command, too, is silent if nothing has changed.
const buildSilence = 3 * time.Second

// buildEngine has the go command build the engine, and returns its path.
func buildEngine() (string, error) {
	version := "VERSION"
	if source == "" && release != wire.Devel {
		version = engineVersion()
	}
	what := fmt.Sprintf("get one with go install %s/cmd/%s@%s where that works, and put it on the PATH or name its path in %s", engineModule, engineProgram, version, engineEnv)
	if source == "" && release == wire.Devel {
		return "", fmt.Errorf("there is no engine on the PATH, and this copy of simtest has neither a version nor the source to build one: %s", what)
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		return "", fmt.Errorf("there is no engine on the PATH, and no Go to build one: %s", what)
	}
	folder, err := engineFolder()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", fmt.Errorf("the engine cannot be built: %w: %s", err, what)
	}
	path := filepath.Join(folder, executable(engineProgram))
	cmd := exec.Command(tool, "install", engineModule+"/cmd/"+engineProgram+"@"+engineVersion())
	if source != "" {
		cmd = exec.Command(tool, "build", "-C", source, "-buildvcs=false", "-o", path, "./cmd/"+engineProgram)
	}
	// The flags of this test's build, an overlay for example, are not for the engine. An empty GOFLAGS would let those of go env -w through.
	cmd.Env = append(os.Environ(), "GOBIN="+folder, "GOFLAGS=-mod=readonly", "GOWORK=off", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.WaitDelay = 5 * time.Second
	line := strings.Join(cmd.Args, " ")
	announce := time.AfterFunc(buildSilence, func() {
		fmt.Fprintf(os.Stderr, "simtest: building the engine %s, which takes minutes the first time: %s\n", engineProgram, line)
	})
	defer announce.Stop()
	unlock, err := lockFile(filepath.Join(folder, "lock"))
	if err != nil {
		return "", fmt.Errorf("the engine cannot be built: %w: %s", err, what)
	}
	defer unlock()
	started := time.Now()
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return "", err
		}
		return "", fmt.Errorf("building the engine has failed, for the reason above: %s: %w; %s", line, err, what)
	}
	if took := time.Since(started); took > buildSilence {
		fmt.Fprintf(os.Stderr, "simtest: built the engine in %s\n", took.Round(100*time.Millisecond))
	}
	return path, nil
}

// engineVersion is what the go command is asked for: this module's version, or the commit that it is of.
func engineVersion() string {
	if commit := wire.Commit(release); commit != "" {
		return commit
	}
	return release
}
