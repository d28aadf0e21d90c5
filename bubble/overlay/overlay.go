package overlay

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Versions are the Go releases that the edits are made for and tested with. Others work as well if every edit matches their sources.
const Versions = "go1.26 or go1.27"

// Write writes the overlay for the toolchain at goroot below dir, and returns the name of the file to pass to `go test -overlay`.
// The same toolchain gives the same file, whose contents never change.
func Write(goroot, dir string) (string, error) {
	var o struct{ Replace map[string]string }
	var err error
	if o.Replace, err = Replacements(goroot, dir); err != nil {
		return "", err
	}
	list, err := json.MarshalIndent(o, "", "\t") // keys are sorted
	if err != nil {
		return "", err
	}
	name, err := filepath.Abs(filepath.Join(dir, "overlay-"+digest(list)+".json"))
	if err != nil {
		return "", err
	}
	return name, put(name, list)
}

// Replacements writes the edited files below dir, and returns what an overlay's Replace says of them: for each of the toolchain's files, the
// one in its place. It is for overlays that replace more.
func Replacements(goroot, dir string) (map[string]string, error) {
	files, err := edited(func(name string) ([]byte, error) {
		return os.ReadFile(filepath.Join(goroot, "src", filepath.FromSlash(name)))
	})
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	replace := map[string]string{}
	for _, f := range files {
		to := filepath.Join(dir, digest(f.data)+"-"+filepath.Base(f.name))
		if err := put(to, f.data); err != nil {
			return nil, err
		}
		replace[filepath.Join(goroot, "src", filepath.FromSlash(f.name))] = to
	}
	return replace, nil
}

// file is an edited file of the standard library.
type file struct {
	name string
	data []byte
}

// edited applies the edits, in the order of the table's files.
func edited(read func(name string) ([]byte, error)) ([]file, error) {
	var files []file
	texts := map[string]string{}
	matches := func(e edit) (int, error) {
		text, known := texts[e.file]
		if !known {
			data, err := read(e.file)
			if err != nil {
				return 0, fmt.Errorf("overlay: cannot read Go's sources: %w", err)
			}
			text = string(data)
			texts[e.file] = text
		}
		return strings.Count(text, e.old), nil
	}
	for _, e := range slices.Concat(edits, interleaving, locks) {
		n, err := matches(e)
		if err == nil && n == 0 && e.or != nil {
			e = *e.or
			n, err = matches(e)
		}
		if err != nil {
			return nil, err
		}
		if times := max(e.times, 1); n != times {
			return nil, fmt.Errorf("overlay: %s: found %d matches, want %d, of %q: the overlay does not support this toolchain, only %s; "+
				"select one of these (GOTOOLCHAIN), or use no overlay", e.file, n, times, firstLine(e.old), Versions)
		}
		texts[e.file] = strings.ReplaceAll(texts[e.file], e.old, e.new)
		if !slices.ContainsFunc(files, func(f file) bool { return f.name == e.file }) {
			files = append(files, file{name: e.file})
		}
	}
	for i := range files {
		files[i].data = []byte(texts[files[i].name])
	}
	return files, nil
}

// put writes a file atomically, unless it exists with this content.
func put(name string, data []byte) error {
	if old, err := os.ReadFile(name); err == nil && string(old) == string(data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err = f.Write(data); err == nil {
		err = f.Chmod(0o644)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6])
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
