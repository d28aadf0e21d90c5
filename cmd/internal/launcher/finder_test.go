//go:build unix

package launcher

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/cmd/internal/version"
)

// place is a simulated machine: the folders that are searched, and the finder that searches them.
type place struct {
	*finder
	t              *testing.T
	dir, path, log string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t: t, dir: t.TempDir()}
	p.path, p.log = filepath.Join(p.dir, "path"), filepath.Join(p.dir, "log")
	stderr, err := os.Create(p.log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stderr.Close() })
	p.finder = &finder{
		program: program, env: Env, ask: "version",
		own: version.Apiserver{Module: "v1.2.3", Protocol: 7}, released: true, self: filepath.Join(p.dir, "self", "informersim"),
		cache: filepath.Join(p.dir, "cache"), stderr: stderr, silence: time.Minute,
	}
	t.Setenv("PATH", p.path)
	t.Setenv(Env, "")
	return p
}

// script writes a program.
func (p *place) script(path, text string) string {
	p.t.Helper()
	path = filepath.Join(p.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o777); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// server writes a server that prints a version.
func (p *place) server(path, module string, protocol int) string {
	return p.script(path, fmt.Sprintf(`[ "$*" = version ] && printf 'informersim-apiserver %s\nprotocol %d\n'`, module, protocol))
}

// tool writes a fake go command that installs a server and records its arguments.
func (p *place) tool(module string, protocol int) {
	p.server("built", module, protocol)
	p.script("path/go", fmt.Sprintf(`PATH=/bin:/usr/bin; echo "$*" >>%s/calls
out=$GOBIN/informersim-apiserver
while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done
cp %[1]s/built "$out"`, p.dir))
}

func (p *place) calls() string {
	data, err := os.ReadFile(filepath.Join(p.dir, "calls"))
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	return string(data)
}

func (p *place) said() string {
	data, err := os.ReadFile(p.log)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

// want checks that the server is found at a path.
func (p *place) want(path string) {
	p.t.Helper()
	if got, err := p.find(p.t.Context()); got != path || err != nil {
		p.t.Errorf("found %q, %v; want %q", got, err, path)
	}
}

// fails checks that no server is found, and why.
func (p *place) fails(why ...string) {
	p.t.Helper()
	got, err := p.find(p.t.Context())
	if err == nil {
		p.t.Fatalf("found %q, want an error", got)
	}
	for _, w := range why {
		if !strings.Contains(err.Error(), w) {
			p.t.Errorf("the error is %q, want %q", err, w)
		}
	}
}

// A server installed on purpose takes precedence over building one.
func TestFindsInOrder(t *testing.T) {
	p := newPlace(t)
	p.tool("v1.2.3", 7)
	built := filepath.Join(p.cache, "v1.2.3", "informersim-apiserver")
	p.want(built)
	if got := p.calls(); got != "install github.com/informersim/informersim/cmd/informersim-apiserver@v1.2.3\n" {
		t.Errorf("the go command was called with %q", got)
	}
	p.want(built) // from the cache
	p.want(p.server("path/informersim-apiserver", "v1.2.3", 7))
	p.want(p.server("self/informersim-apiserver", "v1.2.3", 7))
	env := p.server("env", "v1.2.3", 7)
	t.Setenv(Env, env)
	p.want(env)
	if got := p.calls(); strings.Count(got, "\n") != 1 {
		t.Errorf("the go command was called again: %q", got)
	}
	if p.said() != "" {
		t.Errorf("stderr has %q", p.said())
	}
}

// A server that does not match is named and skipped; if the environment names it, it is an error.
func TestPassesOverOtherVersions(t *testing.T) {
	p := newPlace(t)
	p.tool("v1.2.3", 7)
	p.server("self/informersim-apiserver", "v1.2.2", 7)
	p.server("path/informersim-apiserver", "v1.2.3", 6)
	p.want(filepath.Join(p.cache, "v1.2.3", "informersim-apiserver"))
	for _, want := range []string{
		"not used: " + p.dir + "/self/informersim-apiserver has version v1.2.2, and this informersim has v1.2.3: install the same version of both\n",
		"path/informersim-apiserver has protocol number 6, and this informersim has 7: install the same version of both\n",
	} {
		if !strings.Contains(p.said(), want) {
			t.Errorf("stderr has %q, want %q", p.said(), want)
		}
	}
	for path, why := range map[string]string{
		filepath.Join(p.dir, "self/informersim-apiserver"): Env + ": " + p.dir + "/self/informersim-apiserver has version v1.2.2",
		p.script("other", "echo hello"):                    `"hello" is not a version of informersim-apiserver`,
		p.script("old", "echo informersim-apiserver v0"):   `informersim-apiserver v0: "" is not a protocol number`,
		p.script("fails", "exit 3"):                        "fails version: exit status 3",
		filepath.Join(p.dir, "nothing"):                    "nothing: there is no such file",
		p.dir:                                              "permission denied",
	} {
		t.Setenv(Env, path)
		p.fails(Env+": ", why)
	}
}

// A working copy is built at each start: only the go command knows whether its source has changed.
func TestBuildsWorkingCopy(t *testing.T) {
	p := newPlace(t)
	p.released, p.source = false, "/src/informersim"
	p.tool("devel", 7)
	p.server("path/informersim-apiserver", "v1.2.3", 7)
	built := filepath.Join(p.cacheFolder(), "informersim-apiserver")
	p.want(built)
	p.want(built)
	want := "build -C /src/informersim -buildvcs=false -o " + built + " ./cmd/informersim-apiserver\n"
	if got := p.calls(); got != want+want {
		t.Errorf("the go command was called with %q, want %q twice", got, want)
	}
	p.tool("devel", 8)
	p.fails("protocol number 8")
	if p.source = "/src/other"; built == filepath.Join(p.cacheFolder(), "informersim-apiserver") {
		t.Error("two working copies share a folder")
	}
}

// A program beside a working copy's is used as long as nothing of its source has changed since. Tests, documents and other modules are not its source.
func TestSourceThatIsNewer(t *testing.T) {
	p := newPlace(t)
	p.released, p.source, p.own.Module = false, filepath.Join(p.dir, "src"), "devel"
	p.tool("devel", 7)
	beside := p.server("self/informersim-apiserver", "devel", 7)
	old, now := time.Now().Add(-time.Hour), time.Now()
	if err := os.Chtimes(beside, old, old); err != nil {
		t.Fatal(err)
	}
	changed := func(name string, at time.Time) {
		t.Helper()
		path := p.script("src/"+name, "")
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"store/store.go", "go.mod", "builtin/kinds.txt", "cmd/informersim-apiserver/main.go"} {
		changed(name, old.Add(-time.Hour))
	}
	for _, name := range []string{"store/store_test.go", "README.md", "docs/a.go", "store/testdata/a.go", ".git/index", "simtest/go.mod", "simtest/run.go", "cmd/informersim/main.go",
		"my-seed7.trace.jsonl", "my.sim", "informersim-interleaving"} {
		changed(name, now)
	}
	p.want(beside)
	for _, name := range []string{"store/store.go", "go.mod", "builtin/kinds.txt", "cmd/informersim-apiserver/main.go"} {
		changed(name, now)
		p.want(filepath.Join(p.cacheFolder(), "informersim-apiserver"))
		if want := "not used: " + beside + " is older than " + filepath.Join(p.source, filepath.FromSlash(name)) + ", so what is built from that is\n"; !strings.Contains(p.said(), want) {
			t.Errorf("stderr has %q, want %q", p.said(), want)
		}
		changed(name, old.Add(-time.Hour))
	}
	p.want(beside)
	changed("store/store.go", now)
	t.Setenv(Env, beside) // it is named, so it is what is wanted, and what it says may be old
	p.want(beside)
	if want := Env + ": " + beside + " is older than " + filepath.Join(p.source, "store", "store.go") + ", so what is built from that is not used, since this one is named\n"; !strings.Contains(p.said(), want) {
		t.Errorf("stderr has %q, want %q", p.said(), want)
	}
}

// A program that has to have the overlay is built with it, for this toolchain, and one without it is skipped.
func TestBuildsWithOverlay(t *testing.T) {
	p := newPlace(t)
	t.Setenv("XDG_CACHE_HOME", p.cache)
	t.Setenv("HOME", p.cache) // of the cache on macOS
	p.overlaid, p.program = true, Controllers
	plain := "echo 'informersim-controllers v1.2.3'; echo protocol 7"
	overlaid := p.script("built", plain+"; echo; echo \"with the overlay of Go's runtime\"")
	p.script("path/informersim-controllers", plain)
	p.script("path/go", `echo "$GOTOOLCHAIN,$GOFLAGS: $@" >>`+p.dir+`/calls
		case $1 in env) echo '{"GOROOT": "`+runtime.GOROOT()+`", "GOMODCACHE": "/modules", "GOVERSION": "`+runtime.Version()+`"}';; *) PATH=/bin:/usr/bin; cp `+overlaid+` $GOBIN/informersim-controllers;; esac`)
	t.Setenv("GOFLAGS", "-mod=vendor")
	p.want(filepath.Join(p.cache, "v1.2.3", "informersim-controllers"))
	calls, err := os.ReadFile(filepath.Join(p.dir, "calls"))
	want := regexp.MustCompile(`^` + runtime.Version() + `,-mod=readonly: env -json GOROOT GOMODCACHE GOVERSION\n` + runtime.Version() +
		`,-mod=readonly: install -overlay=.*/informersim/overlay/overlay-[0-9a-f]+\.json github.com/informersim/informersim/cmd/informersim-controllers@v1.2.3\n$`)
	if err != nil || !want.Match(calls) {
		t.Errorf("the go command was called with %q, %v; want %s", calls, err, want)
	}
	if !strings.Contains(p.said(), "not used: "+p.path+"/informersim-controllers is built without the overlay of Go's runtime") {
		t.Errorf("stderr has %q", p.said())
	}
}

// The flags and the workspace of what the user builds are not for the server. An empty GOFLAGS would let that of go env -w through.
func TestBuildsWithoutFlags(t *testing.T) {
	p := newPlace(t)
	p.tool("v1.2.3", 7)
	p.script("path/go", `echo "$GOFLAGS $GOWORK" >`+p.dir+`/flags; PATH=/bin:/usr/bin; cp `+p.dir+`/built $GOBIN/informersim-apiserver`)
	t.Setenv("GOFLAGS", "-mod=vendor")
	t.Setenv("GOWORK", filepath.Join(p.dir, "go.work"))
	p.want(filepath.Join(p.cache, "v1.2.3", "informersim-apiserver"))
	if flags, err := os.ReadFile(filepath.Join(p.dir, "flags")); err != nil || string(flags) != "-mod=readonly off\n" {
		t.Errorf("the server is built with %q, %v", flags, err)
	}
}

// A long build is announced.
func TestAnnouncesBuild(t *testing.T) {
	p := newPlace(t)
	p.tool("v1.2.3", 7)
	p.script("path/go", "PATH=/bin:/usr/bin; sleep 0.2; echo go: downloading >&2; cp "+p.dir+"/built $GOBIN/informersim-apiserver")
	p.silence = time.Millisecond
	if _, err := p.find(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"building informersim-apiserver, which takes minutes the first time: " + p.path + "/go install ", "go: downloading\n", "\nbuilt informersim-apiserver in "} {
		if !strings.Contains(p.said(), want) {
			t.Errorf("stderr has %q, want %q", p.said(), want)
		}
	}
}

// If no server can be found or built, the error says what to do.
func TestCannotBuild(t *testing.T) {
	p := newPlace(t)
	p.fails("informersim-apiserver is not installed, and neither is Go to build it: install Go from https://go.dev/dl, or put informersim-apiserver beside informersim or on the PATH, or name its path in INFORMERSIM_APISERVER")
	p.script("path/go", "echo no network >&2; exit 1")
	p.fails("building informersim-apiserver: ", "go install ", ": exit status 1")
	if !strings.Contains(p.said(), "no network") {
		t.Errorf("stderr has %q", p.said())
	}
	p.released = false
	p.fails("this informersim's source to build it from was not found")
}

// Ctrl-C ends a build.
func TestInterruptedBuild(t *testing.T) {
	p := newPlace(t)
	p.script("path/go", "PATH=/bin:/usr/bin; touch "+p.dir+"/started; exec sleep 60")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			if _, err := os.Stat(filepath.Join(p.dir, "started")); err == nil {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	started := time.Now()
	if got, err := p.find(ctx); err != context.Canceled || time.Since(started) > 30*time.Second {
		t.Errorf("found %q, %v, after %s", got, err, time.Since(started))
	}
}

// Two simultaneous first starts build one after the other.
func TestBuildsOneAtATime(t *testing.T) {
	p := newPlace(t)
	p.server("built", "v1.2.3", 7)
	p.script("path/go", fmt.Sprintf("PATH=/bin:/usr/bin; mkdir %s/building || exit 1; sleep 0.1; cp %[1]s/built $GOBIN/informersim-apiserver; rmdir %[1]s/building", p.dir))
	errs := make(chan error)
	for range 3 {
		go func() {
			_, err := p.build(t.Context())
			errs <- err
		}()
	}
	for range 3 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// This test was compiled from a working copy, in which the source is found.
func TestSourceFolder(t *testing.T) {
	if got, err := filepath.Abs("../../.."); err != nil || sourceFolder() != got {
		t.Errorf("the source is in %q, want %q, %v", sourceFolder(), got, err)
	}
}
