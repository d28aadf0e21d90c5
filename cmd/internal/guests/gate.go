package guests

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// gate is the file that is added to client-go's package cache where the controller's loop does not look at a context.
const gate = `package cache

// InformersimGate is called by a controller's loop before it takes from its queue. Older releases are written in a Go without any.
var InformersimGate func(queue interface{})
`

// take is the line of client-go's tools/cache/controller.go before which the gate is called.
var take = regexp.MustCompile(`(?m)^\t+\w+, err := c\.config\.Queue\.Pop\(PopProcessFunc\(c\.config\.Process\)\)$`)

// unused are folders of client-go that no guest links, and that are large.
var unused = []string{"applyconfigurations", "informers", "kubernetes", "listers"}

// gatedCopy puts a copy of client-go with the gate beside the guest's sources, for a replacement in its go.mod: the go command lets nothing
// else take the place of a downloaded file.
func (b *builder) gatedCopy(source string) error {
	if b.r.Folder == "" {
		if _, err := b.run(source, "mod", "download", clientGo); err != nil {
			return err
		}
	}
	module, err := b.run(source, "list", "-mod=mod", "-m", "-f", "{{.Dir}}", clientGo)
	if err != nil {
		return err
	}
	to := filepath.Join(source, "client-go")
	err = fs.WalkDir(os.DirFS(module), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && slices.Contains(unused, name):
			return fs.SkipDir
		case e.IsDir():
			return os.MkdirAll(filepath.Join(to, filepath.FromSlash(name)), 0o777)
		case name != "go.mod" && (!strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go")):
			return nil
		}
		data, err := os.ReadFile(filepath.Join(module, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if name == "tools/cache/controller.go" {
			at := take.FindAllIndex(data, -1)
			if len(at) != 1 {
				return fmt.Errorf("the loop of its controller is not as expected: %s is not in %s", take, name)
			}
			data = slices.Insert(data, at[0][0], []byte("\t\tInformersimGate(c.config.Queue)\n")...)
		}
		return os.WriteFile(filepath.Join(to, filepath.FromSlash(name)), data, 0o666)
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(to, "tools", "cache", "informersim_gate.go"), []byte(gate), 0o666)
	}
	if err == nil {
		_, err = b.run(source, "mod", "edit", "-replace="+clientGo+"=./client-go")
	}
	if err != nil {
		return fmt.Errorf("building %s: %w", b.r.Subject(), err)
	}
	return nil
}
