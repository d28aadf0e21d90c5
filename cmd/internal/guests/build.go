package guests

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	informersim "github.com/informersim/informersim"
	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/bubble/overlay"
	"github.com/informersim/informersim/cmd/internal/launcher"
	"github.com/informersim/informersim/cmd/internal/version"
	"github.com/informersim/informersim/subjects/clientgo/releases"
)

// program is the file name of a guest.
func program() string {
	if runtime.GOOS == "windows" {
		return "guest.exe"
	}
	return "guest"
}

// find returns the path of the guest with a release or a working copy, and builds it if there is none.
func find(ctx context.Context, r releases.Release, stderr io.Writer) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%s needs a folder for what is built once: %w", r.Subject(), err)
	}
	b := &builder{ctx: ctx, r: r, folder: filepath.Join(cache, "informersim", "guests")}
	if r.Folder != "" {
		return b.findCopy(stderr)
	}
	return b.findRelease(stderr)
}

// findRelease returns the path of the guest with a release. It is built once.
func (b *builder) findRelease(stderr io.Writer) (string, error) {
	sum, err := digest()
	if err != nil {
		return "", err
	}
	kept := fmt.Sprintf("%s-%s-", b.r.Version, sum)
	if _, err := exec.LookPath("go"); err != nil {
		there, _ := filepath.Glob(filepath.Join(b.folder, kept+"*", program()))
		there = slices.DeleteFunc(there, func(path string) bool { return strings.Contains(filepath.Dir(path), "-overlay-") != bubble.Seeded() })
		if len(there) > 0 {
			return there[len(there)-1], nil
		}
		return "", fmt.Errorf("%s has to be built once, and there is no go command: install Go from https://go.dev/dl, or use the built-in client-go %s with --subject client-go",
			b.r.Subject(), releases.BuiltIn)
	}
	b.mod = goMod(b.r)
	if err := b.settle(kept); err != nil {
		return "", err
	}
	path := filepath.Join(b.folder, program())
	if isProgram(path) {
		return path, nil
	}
	unlock, err := launcher.Lock(b.ctx, filepath.Join(b.folder, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if isProgram(path) { // another process has built it meanwhile
		return path, nil
	}
	fmt.Fprintf(stderr, "building a guest with client-go %s, which is done once and may take minutes\n", b.r.Version)
	started := time.Now()
	if err := b.inSource(func(source string) error { return b.link(source, path) }); err != nil {
		return "", err
	}
	fmt.Fprintf(stderr, "built it in %s: %s\n", time.Since(started).Round(100*time.Millisecond), path)
	return path, nil
}

// settle finds the toolchain for the guest's go.mod, and makes the guest's own folder below the one for all of them. Its name begins with kept.
func (b *builder) settle(kept string) error {
	t, edits, err := toolchain(b.ctx, b.mod)
	switch {
	case b.ctx.Err() != nil:
		return b.ctx.Err()
	case err != nil:
		return fmt.Errorf("building %s: %w", b.r.Subject(), err)
	}
	kept += t.Version
	if edits != "" {
		kept += "-" + strings.TrimSuffix(filepath.Base(edits), ".json")
	}
	b.toolchain, b.edits, b.folder = t, edits, filepath.Join(b.folder, kept)
	if err := os.MkdirAll(b.folder, 0o777); err != nil {
		return fmt.Errorf("building %s: %w", b.r.Subject(), err)
	}
	return nil
}

// isProgram reports whether there is a guest at path.
func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// toolchain returns the one that a guest's go.mod asks for, and the overlay of its runtime if this program has it: its guests are to be what it is.
func toolchain(ctx context.Context, mod string) (t *overlay.Toolchain, edits string, err error) {
	folder, err := os.MkdirTemp("", "guest")
	if err != nil {
		return nil, "", err
	}
	defer os.RemoveAll(folder)
	if err := os.WriteFile(filepath.Join(folder, "go.mod"), []byte(mod), 0o666); err != nil {
		return nil, "", err
	}
	if bubble.Seeded() {
		return launcher.Overlay(ctx, folder, environ())
	}
	t, err = launcher.Toolchain(ctx, folder, environ())
	return t, "", err
}

// environ is the environment for the go command.
func environ() []string { return append(launcher.BuildEnv(), "GO111MODULE=on") }

// sources calls f with each file of a guest.
func sources(f func(name string, data []byte) error) error {
	return fs.WalkDir(informersim.GuestSources, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(name, "_test.go") {
			return err
		}
		data, err := informersim.GuestSources.ReadFile(name)
		if err != nil {
			return err
		}
		return f(name, data)
	})
}

// digest identifies the sources of guests, and how they are built.
func digest() (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n", goMod(releases.Release{}), gate)
	err := sources(func(name string, data []byte) error {
		fmt.Fprintf(h, "%s %d\n%s", name, len(data), data)
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)[:8]), err
}

// goMod is the go.mod of a guest. The module has the path of this one, so that its files need no changes.
func goMod(r releases.Release) string {
	return fmt.Sprintf("module %s\n\ngo %s\n\nrequire (\n\tk8s.io/apimachinery %s\n\tk8s.io/client-go %[3]s\n)\n", version.Path, r.Go(), r.Version)
}

// builder builds one guest.
type builder struct {
	ctx       context.Context
	toolchain *overlay.Toolchain
	folder    string // that of all guests, and from settle on its own
	edits     string // the file for -overlay, "" for none
	r         releases.Release
	mod       string // the guest's go.mod
	sums      []byte // the checksums that are known
}

// inSource calls f with a folder of the guest's sources, which is there until f returns. Who calls it holds the lock: what others have left was killed.
func (b *builder) inSource(f func(source string) error) error {
	left, _ := filepath.Glob(filepath.Join(b.folder, "source*"))
	for _, l := range left {
		_ = os.RemoveAll(l)
	}
	source, err := os.MkdirTemp(b.folder, "source")
	if err != nil {
		return fmt.Errorf("building %s: %w", b.r.Subject(), err)
	}
	defer os.RemoveAll(source)
	err = errors.Join(os.WriteFile(filepath.Join(source, "go.mod"), []byte(b.mod), 0o666), os.WriteFile(filepath.Join(source, "go.sum"), b.sums, 0o666))
	err = errors.Join(err, sources(func(name string, data []byte) error {
		file := filepath.Join(source, filepath.FromSlash(name))
		return errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, data, 0o666))
	}))
	if err != nil {
		return fmt.Errorf("building %s: %w", b.r.Subject(), err)
	}
	if !b.r.Gated() {
		if err := b.gatedCopy(source); err != nil {
			return err
		}
	}
	return f(source)
}

// flags are the arguments of the go command's build and list, with the package at their end.
func (b *builder) flags() []string {
	release := b.r.Version
	if b.r.Folder != "" {
		release = "(working copy)" // a path may have what separates the linker's flags
	}
	flags := []string{
		"-mod=mod", "-buildvcs=false", "-trimpath", "-tags", strings.Join(b.r.Tags(), ","),
		"-ldflags", "-X '" + version.Path + "/subjects/clientgo/gates.Release=" + release + "'",
	}
	if b.edits != "" {
		flags = append(flags, "-overlay", b.edits)
	}
	return append(flags, "./subjects/clientgo/guest")
}

// link builds the guest of its sources, and puts it at path when it is complete.
func (b *builder) link(source, path string) error {
	made := filepath.Join(source, program())
	if _, err := b.run(source, append([]string{"build", "-o", made}, b.flags()...)...); err != nil {
		return err
	}
	return os.Rename(made, path)
}

// run runs the go command.
func (b *builder) run(folder string, args ...string) (string, error) {
	cmd := exec.CommandContext(b.ctx, b.toolchain.Command, args...)
	cmd.Dir = folder
	cmd.Env = append(slices.Clip(b.toolchain.Env), "PWD="+folder)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	switch {
	case b.ctx.Err() != nil:
		return "", b.ctx.Err()
	case err != nil:
		return "", b.explain(said.String(), err)
	}
	return strings.TrimSpace(out.String()), nil
}

// explain says why a build has failed, and what can be done.
func (b *builder) explain(said string, err error) error {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(said, w) })
	}
	switch {
	case b.r.Folder == "" && has("unknown revision", "404 Not Found", "410 Gone", "no matching versions"):
		return fmt.Errorf("there is no client-go %s: go list -m -versions k8s.io/client-go prints those that there are", b.r.Version)
	case has("module lookup disabled", "dial tcp", "no such host", "connection refused", "i/o timeout", "proxyconnect", "TLS handshake"):
		what := "client-go " + b.r.Version
		if b.r.Folder != "" {
			what = "what client-go in " + b.r.Folder + " requires"
		}
		return fmt.Errorf("%s is not in the module cache, and it cannot be downloaded: %s\nConnect once, or set GOPROXY to a proxy that can be reached", what, firstLine(said))
	}
	return fmt.Errorf("building %s: %w\n%s", b.r.Subject(), err, lastLines(said))
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}
