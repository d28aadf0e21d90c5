package guests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/version"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"

	"github.com/informersim/informersim/cmd/internal/launcher"
	informersim "github.com/informersim/informersim/cmd/internal/version"
	"github.com/informersim/informersim/subjects/clientgo/releases"
)

// clientGo is the path of client-go's module.
const clientGo = "k8s.io/client-go"

// IsFolder reports whether what follows client-go@ names a folder. Like an argument of the go command, it then begins with a dot or is absolute; a shell does not
// expand a ~ in the middle of a word.
func IsFolder(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~") || filepath.IsAbs(name)
}

// copyIn returns the working copy of client-go in a folder: one of client-go, or of Kubernetes.
func copyIn(folder string) (releases.Release, error) {
	if rest, ok := strings.CutPrefix(folder, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		home, err := os.UserHomeDir()
		if err != nil {
			return releases.Release{}, err
		}
		folder = filepath.Join(home, rest)
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return releases.Release{}, err
	}
	mod, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		if _, missing := os.Stat(folder); missing != nil {
			err = missing
		}
		return releases.Release{}, fmt.Errorf("%w: name the folder of client-go's go.mod, or of a clone of Kubernetes", err)
	}
	switch path := modfile.ModulePath(mod); path {
	case clientGo:
	case "k8s.io/kubernetes":
		folder = filepath.Join(folder, "staging", "src", "k8s.io", "client-go")
	case "":
		return releases.Release{}, fmt.Errorf("%s names no module: name the folder of client-go's go.mod, or of a clone of Kubernetes", filepath.Join(folder, "go.mod"))
	default:
		return releases.Release{}, fmt.Errorf("%s has the module %s, not %s", folder, path, clientGo)
	}
	return releases.Copy(folder, os.DirFS(folder))
}

// state returns what a program's versions say of a working copy: its folder, its commit if git knows it, and what was built of it at path, by which states with local
// changes are told apart.
func state(ctx context.Context, folder, path string) string {
	text := "in " + folder
	out, err := exec.CommandContext(ctx, "git", "-C", folder, "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+dirty").Output()
	if commit := strings.TrimSpace(string(out)); err == nil && commit != "" {
		text += " at " + commit
	}
	return text + ", build " + filepath.Base(filepath.Dir(path))
}

// copyMod returns the go.mod of the guest of a working copy, and the checksums for its modules. What a go.mod replaces and what a workspace uses is not asked for
// where that module is a dependency; so that the copy is built as it is by itself, the guest's go.mod replaces the same modules.
func copyMod(ctx context.Context, folder string) (mod string, sums []byte, err error) {
	path := filepath.Join(folder, "go.mod")
	data, err := os.ReadFile(path)
	if err != nil {
		return "", nil, err
	}
	own, err := modfile.Parse(path, data, nil)
	if err != nil {
		return "", nil, err
	}
	guest := new(modfile.File)
	release := releases.Release{}.Go()
	if own.Go != nil && version.Compare("go"+own.Go.Version, "go"+release) > 0 {
		release = own.Go.Version
	}
	err = errors.Join(guest.AddModuleStmt(informersim.Path), guest.AddGoStmt(release), guest.AddRequire(clientGo, "v0.0.0"))
	replace := func(folder string, r *modfile.Replace) {
		by := r.New.Path
		if r.New.Version == "" && !filepath.IsAbs(by) {
			by = filepath.Join(folder, by)
		}
		err = cmp.Or(err, guest.AddReplace(r.Old.Path, r.Old.Version, by, r.New.Version))
	}
	for _, r := range own.Replace {
		replace(folder, r)
	}
	sums, _ = os.ReadFile(filepath.Join(folder, "go.sum"))
	w, members, errOfWork := workspace(ctx, folder)
	if errOfWork != nil {
		return "", nil, errOfWork
	}
	if w != nil {
		for _, m := range members {
			err = cmp.Or(err, guest.AddReplace(m.path, "", m.folder, ""))
		}
		for _, r := range w.Replace {
			replace(filepath.Dir(w.Syntax.Name), r)
		}
		more, _ := os.ReadFile(w.Syntax.Name + ".sum")
		sums = append(sums, more...)
	}
	if err = cmp.Or(err, guest.AddReplace(clientGo, "", folder, "")); err != nil {
		return "", nil, fmt.Errorf("%s: %w", path, err)
	}
	data, err = guest.Format()
	return string(data), sums, err
}

// member is a module of a workspace.
type member struct{ path, folder string }

// workspace returns the workspace in which a folder is built, nil if there is none, and its modules.
func workspace(ctx context.Context, folder string) (*modfile.WorkFile, []member, error) {
	file, err := ask(ctx, folder, "env", "GOWORK")
	if err != nil || file == "" || file == "off" {
		return nil, nil, err
	}
	out, err := ask(ctx, folder, "list", "-m", "-f", "{{.Path}}\t{{.Dir}}")
	if err != nil {
		return nil, nil, err
	}
	var members []member
	for line := range strings.Lines(out) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		members = append(members, member{path, dir})
	}
	if !slices.ContainsFunc(members, func(m member) bool { return m.path == clientGo && sameFile(m.folder, folder) }) {
		return nil, nil, nil // it is another one's, and the go command builds nothing here with it
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	w, err := modfile.ParseWork(file, data, nil)
	return w, members, err
}

func sameFile(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(ia, ib)
}

// ask returns what the go command says in a folder, with the user's environment but for flags.
func ask(ctx context.Context, folder string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "GOFLAGS=-mod=readonly", "PWD="+folder)
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.As(err, &exit):
		return "", fmt.Errorf("go %s in %s: %s", strings.Join(args, " "), folder, lastLines(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}

// staleAfter is how long the guest with an earlier state of a working copy is kept after its last use: a process may start it anew as long as it runs.
const staleAfter = 7 * 24 * time.Hour

// findCopy returns the path of the guest with a working copy as it is now. It is built if there is none.
func (b *builder) findCopy(stderr io.Writer) (path string, err error) {
	if _, err := exec.LookPath("go"); err != nil {
		return "", fmt.Errorf("%s has to be built, and there is no go command: install Go from https://go.dev/dl", b.r.Subject())
	}
	if b.mod, b.sums, err = copyMod(b.ctx, b.r.Folder); err != nil {
		return "", err
	}
	if err := b.settle("copy-" + launcher.Digest(b.r.Folder) + "-"); err != nil {
		return "", err
	}
	unlock, err := launcher.Lock(b.ctx, filepath.Join(b.folder, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	err = launcher.Announced(stderr, launcher.Silence, "a guest", "client-go in "+b.r.Folder, func() error {
		return b.inSource(func(source string) error {
			// Which package is in which state follows from the files; so what is here already need not be linked once more.
			ids, err := b.run(source, append([]string{"list", "-deps", "-export", "-f", "{{.BuildID}}"}, b.flags()...)...)
			if err != nil {
				return err
			}
			path = filepath.Join(b.folder, launcher.Digest(ids), program())
			if isProgram(path) {
				return nil
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				return err
			}
			return b.link(source, path)
		})
	})
	if err != nil {
		return "", err
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now)
	kept, _ := filepath.Glob(filepath.Join(b.folder, "*", program()))
	for _, other := range kept {
		if info, err := os.Stat(other); err == nil && other != path && now.Sub(info.ModTime()) > staleAfter {
			_ = os.RemoveAll(filepath.Dir(other))
		}
	}
	return path, nil
}
