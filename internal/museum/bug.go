package museum

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Bug is an item of docs/spec/bugs.md.
type Bug struct {
	// IDs are its names, such as k115658. The first one names its exhibit.
	IDs []string
	// Years are those in which it was reported.
	Years string
	// Open means that upstream has not mended it.
	Open bool
	// Kind is the heading that it stands under.
	Kind string
	// Text says what happens, as Markdown.
	Text string
}

var (
	bugItem = regexp.MustCompile(`^- (?:<a id="\w+"></a>)+\*\*(\w+(?:, \w+)*)\*\* (?:\(([^)]*)\) )?(.*)$`)
	year    = regexp.MustCompile(`\d{4}`)
)

// LoadBugs reads the page of a clone.
func LoadBugs(root string) ([]Bug, error) {
	name := filepath.Join(root, "docs", "spec", "bugs.md")
	page, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	bugs, err := parseBugs(string(page))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return bugs, nil
}

func parseBugs(page string) ([]Bug, error) {
	var bugs []Bug
	kind := ""
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			kind = heading
			continue
		}
		m := bugItem.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		text := m[3]
		for _, end := range []string{" **Shown by**", " **Not reproduced yet.**"} {
			text, _, _ = strings.Cut(text, end)
		}
		bugs = append(bugs, Bug{
			IDs: strings.Split(m[1], ", "), Years: strings.Join(slices.Compact(year.FindAllString(m[2], -1)), ", "),
			Open: strings.HasSuffix(m[2], "open"), Kind: kind, Text: text,
		})
	}
	if len(bugs) == 0 {
		return nil, errors.New("it has no item like - <a id=\"k115658\"></a>**k115658** (2023) …")
	}
	return bugs, nil
}

// ID is the first of its names.
func (b *Bug) ID() string { return b.IDs[0] }

// matches reports whether a pattern, a part of a name, means it.
func (b *Bug) matches(pattern string) bool {
	return slices.ContainsFunc(b.IDs, func(id string) bool { return strings.Contains(id, pattern) })
}

// repositories are where reports are, by the letters that a name begins with.
var repositories = map[string]string{
	"k": "kubernetes/kubernetes", "e": "etcd-io/etcd", "cr": "kubernetes-sigs/controller-runtime", "cg": "kubernetes/client-go",
}

// Report is the address of a bug's report.
func Report(id string) string {
	letters := strings.TrimRight(id, "0123456789")
	return "https://github.com/" + repositories[letters] + "/issues/" + id[len(letters):]
}
