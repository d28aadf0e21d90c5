package catalogue

import (
	"embed"
	"fmt"
	"io/fs"
	"sort"

	"github.com/informersim/informersim/internal/probe"
)

//go:embed *.probe
var scripts embed.FS

// All returns every probe, ordered by file and then as written, the matrices last. Names are unique.
func All() ([]probe.Probe, error) {
	names, err := fs.Glob(scripts, "*.probe")
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
		probes, err := probe.Parse(name, string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, probes...)
	}
	generated, err := probe.Parse("matrix", matrix())
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
