package suites

import (
	"fmt"
	"os"
	"strings"
)

// Known are the specs that fail, by package, written PROJECT/PACKAGE.
type Known map[string]Reasons

// Reasons say why specs of a package fail, by name.
type Reasons map[string]string

// ReadKnown reads a file of lines PACKAGE: NAME, each followed by an indented line with the reason. Lines that begin with # are
// comments.
func ReadKnown(path string) (Known, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseKnown(path, string(text))
}

func parseKnown(path, text string) (Known, error) {
	known := Known{}
	pkg, name := "", ""
	for i, line := range strings.Split(text, "\n") {
		words := strings.TrimSpace(line)
		switch {
		case words == "" || strings.HasPrefix(line, "#"):
		case words != line && name != "" && known[pkg][name] == "":
			known[pkg][name] = words
		case words != line:
			return nil, fmt.Errorf("%s:%d: a reason belongs below the name of a spec", path, i+1)
		case name != "" && known[pkg][name] == "":
			return nil, fmt.Errorf("%s:%d: the spec above has no reason", path, i+1)
		default:
			var ok bool
			if pkg, name, ok = strings.Cut(words, ": "); !ok {
				return nil, fmt.Errorf("%s:%d: write it like controller-runtime/pkg/client: Client / Create / It should create", path, i+1)
			}
			if known[pkg] == nil {
				known[pkg] = Reasons{}
			}
			known[pkg][name] = ""
		}
	}
	if name != "" && known[pkg][name] == "" {
		return nil, fmt.Errorf("%s: the last spec has no reason", path)
	}
	return known, nil
}

// Passing returns the specs that are known to fail, and passed.
func (known Reasons) Passing(r Report) []string {
	var names []string
	for _, s := range r.Specs {
		if s.State == passed && known[s.Name] != "" {
			names = append(names, s.Name)
		}
	}
	return names
}
