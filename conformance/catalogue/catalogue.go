package catalogue

import (
	"embed"
	"fmt"
	"io/fs"
	"sort"

	"github.com/informersim/informersim/internal/probe"
)

//go:embed *.probe kube/*.probe kube/*.table
var scripts embed.FS

// All returns every probe of custom resources, ordered by file and then as written, the matrices last. Names are unique.
func All() ([]probe.Probe, error) { return read("*.probe", matrix()) }

// Builtin returns the probes of built-in kinds in the same order.
func Builtin() ([]probe.Probe, error) {
	refusals, err := refusalTables()
	if err != nil {
		return nil, err
	}
	return read("kube/*.probe", kindTables()+refusals)
}

// read returns the probes of the files that match a pattern, and those of a text.
func read(pattern, tables string) ([]probe.Probe, error) {
	names, err := fs.Glob(scripts, pattern)
	if err != nil {
		return nil, fmt.Errorf("list the scripts: %w", err)
	}
	sort.Strings(names)
	var all []probe.Probe
	for _, name := range names {
		text, err := scripts.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		probes, err := probe.Parse(name, macros.Replace(string(text)))
		if err != nil {
			return nil, err
		}
		all = append(all, probes...)
	}
	generated, err := probe.Parse("matrix", tables)
	if err != nil {
		return nil, err
	}
	all = append(all, generated...)
	seen := map[string]bool{}
	for _, p := range all {
		if seen[p.Name] {
			return nil, fmt.Errorf("two probes are named %s", p.Name)
		}
		seen[p.Name] = true
	}
	return all, nil
}
