package scenarios

import (
	"embed"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/informersim/informersim/scenarios/script"
)

// The catalogue is a part of the program: who has only the command can read and run it. The files stay in one folder, because documents
// and findings name them by their paths; themes.txt says what belongs together.
//
//go:embed testdata/*.sim testdata/themes.txt
var catalogueFiles embed.FS

const catalogueFolder = "testdata"

// An Entry is a scenario of the catalogue, and what it is about.
type Entry struct {
	*Scenario
	// Theme is the word for what it is about, and ThemeText says it.
	Theme, ThemeText string
	// Prose is the comment at its head.
	Prose string
	// Components are the parts that it needs beside an informer with a queue, and Bugs those of docs/spec/bugs.md that it cites.
	Components, Bugs []string
}

// Catalogue returns the scenarios that come with the program, theme by theme.
func Catalogue() ([]Entry, error) {
	text, err := catalogueFiles.ReadFile(path.Join(catalogueFolder, "themes.txt"))
	if err != nil {
		return nil, err
	}
	var all []Entry
	theme, about := "", ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if word, rest, ok := strings.Cut(line, ": "); ok {
			theme, about = word, rest
			continue
		}
		for name := range strings.FieldsSeq(line) {
			file := path.Join(catalogueFolder, name+".sim")
			src, err := catalogueFiles.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("themes.txt names a scenario that is not there: %w", err)
			}
			s, err := Parse(path.Join("scenarios", file), src)
			if err != nil {
				return nil, err
			}
			all = append(all, Entry{Scenario: s, Theme: theme, ThemeText: about, Prose: Prose(string(src)), Components: s.Components(), Bugs: s.Bugs()})
		}
	}
	return all, nil
}

// Prose returns the comment at the head of a script, as one line.
func Prose(text string) string {
	var words []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			break
		}
		words = append(words, strings.Fields(strings.TrimPrefix(line, "#"))...)
	}
	return strings.Join(words, " ")
}

// componentOf says which component a command or one of its arguments needs.
var componentOf = map[string]string{
	"queue=delta": "delta-fifo", "queue=inorder": "real-fifo", "queue=atomic": "atomic-fifo", "watch-list=on": "streaming-list",
	"page=": "pager", "resync=": "resync", "labels=": "selector", "informer fields=": "selector", "namespace=": "namespace", "transform=": "transform",
	"indexer": "indexer", "worker": "work-queue", "writer": "writer", "handler": "handler", "handle": "handler", "remove": "handler",
	"restore": "store", "compact": "store", "restart": "replica", "replicas=": "replica",
}

// Components returns the parts that the script needs beside an informer with a queue, sorted: labels in a test suite.
func (s *Scenario) Components() []string {
	found := map[string]bool{}
	for _, c := range s.file.Commands() {
		found[componentOf[c.Name]] = true
		for _, a := range c.Args {
			if a.Value == "0" || a.Value == "0s" {
				continue // page=0 and resync=0s mean none
			}
			found[componentOf[a.Key+"="]] = true
			found[componentOf[c.Name+" "+a.Key+"="]] = true
			found[componentOf[a.Key+"="+a.Value]] = true
		}
	}
	delete(found, "")
	return slices.Sorted(maps.Keys(found))
}

var bugName = regexp.MustCompile(`\b(?:k\d{4,6}|e\d{4,5}|cr\d{4}|cg\d{4})\b`)

// Bugs returns the historical bugs that the comments and the name of the script cite, sorted: k115658 is that issue of
// kubernetes/kubernetes, and docs/spec/bugs.md has the others.
func (s *Scenario) Bugs() []string {
	text := s.Name
	for line := range strings.Lines(string(script.Print(s.file))) {
		if strings.HasPrefix(line, "#") {
			text += " " + line
		}
	}
	found := bugName.FindAllString(strings.ReplaceAll(text, "_", " "), -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// Labels are the kinds of faults, the components and the bugs of a scenario: what a test suite may select it by.
func (s *Scenario) Labels() []string { return slices.Concat(s.Faults(), s.Components(), s.Bugs()) }

// Matches reports whether a pattern means the entry: a part of its name, or one of its labels or its theme.
func (e *Entry) Matches(pattern string) bool {
	return strings.Contains(e.Name, pattern) || e.Theme == pattern || slices.Contains(e.Labels(), pattern)
}
