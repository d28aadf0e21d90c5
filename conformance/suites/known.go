package suites

import (
	"fmt"
	"os"
	"strings"
)

// Known are the specs that fail, and why: by package, written PROJECT/PACKAGE, then by name.
type Known map[string]map[string]string

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
				known[pkg] = map[string]string{}
			}
			known[pkg][name] = ""
		}
	}
	if name != "" && known[pkg][name] == "" {
		return nil, fmt.Errorf("%s: the last spec has no reason", path)
	}
	return known, nil
}

// Reason returns why a spec fails, "" if that is not known.
func (k Known) Reason(pkg, name string) string { return k[pkg][name] }

// Passing returns the specs of a package that are known to fail, and passed.
func (k Known) Passing(pkg string, r Report) []string {
	var names []string
	for _, s := range r.Specs {
		if s.State == passed && k[pkg][s.Name] != "" {
			names = append(names, s.Name)
		}
	}
	return names
}
