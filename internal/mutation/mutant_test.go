package mutation_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/informersim/informersim/internal/mutation"
)

const example = `A deletion is forgotten,
and so is an update.

breaks: IndexerConverges, NoPanic
bug: k115658
survives: it is too small
-- old a/b.go --
	delete()
-- new a/b.go --
-- old k8s.io/client-go/tools/cache/c.go --
	one()
	two()
-- new k8s.io/client-go/tools/cache/c.go --
	two()
-- old a/b.go --
	update()
-- new a/b.go --
	_ = 1
`

func TestParse(t *testing.T) {
	m, err := mutation.Parse("example", example)
	if err != nil {
		t.Fatal(err)
	}
	if want := "A deletion is forgotten, and so is an update."; m.Defect != want {
		t.Errorf("the defect is %q, want %q", m.Defect, want)
	}
	if m.Bug != "k115658" || m.Survives != "it is too small" || m.Subject != "client-go" || strings.Join(m.Breaks, " ") != "IndexerConverges NoPanic" {
		t.Errorf("the header is read as %+v", m)
	}
	if files := strings.Join(m.Files(), " "); len(m.Edits) != 3 || files != "a/b.go k8s.io/client-go/tools/cache/c.go" {
		t.Errorf("%d edits, of %s", len(m.Edits), files)
	}
	for pattern, want := range map[string]bool{
		"": true, "exam": true, "client-go": true, "stack": false, "k115658": true, "a/": true, "k8s.io/client-go/tools": true, "b.go": false,
	} {
		if m.Matches(pattern) != want {
			t.Errorf("%q matches: %v, want %v", pattern, !want, want)
		}
	}
}

// A mutant of a controller names its test, and no subject. It may say why nothing finds it in place of what does.
func TestParseOfController(t *testing.T) {
	const edit = "-- old k8s.io/kubernetes/a.go --\nx\n-- new k8s.io/kubernetes/a.go --\ny\n"
	m, err := mutation.Parse("m", "It is broken.\ntest: TestJob\nsurvives: it is quiet\n"+edit)
	if err != nil {
		t.Fatal(err)
	}
	if m.Test != "TestJob" || m.Subject != "" || len(m.Breaks) != 0 || !m.Matches("TestJob") || m.Matches("TestJo") {
		t.Errorf("it is read as %+v", m)
	}
	for text, want := range map[string]string{ // the order is that of no requirement
		"It is broken.\ntest: TestJob\n":                                         "which property",
		"It is broken.\ntest: job\nbreaks: NoOrphan\n":                           `"job" is no name of a test`,
		"It is broken.\ntest: TestJob\nbreaks: NoOrphan\nsubject: stack\n":       "delete the line",
		"It is broken.\ntest: TestJob\nbreaks: NoOrphan\ninterleave: it races\n": "delete the line",
		"It is broken.\ntest: TestJob\nmends: NoOrphan\n":                        "delete the line",
		"It is broken.\nbreaks: NoOrphan\nseeds: 80\n":                           "only a test of a controller",
		"It is broken.\ntest: TestJob\nbreaks: NoOrphan\nseeds: many\n":          `"many" is no number of seeds`,
	} {
		if _, err := mutation.Parse("m", text+edit); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", text, err, want)
		}
	}
}

// A checkout on Windows has other ends of lines.
func TestParseCRLF(t *testing.T) {
	want, err := mutation.Parse("example", example)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := mutation.Parse("example", strings.ReplaceAll(example, "\n", "\r\n")); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func TestParseRefuses(t *testing.T) {
	const edit = "-- old a.go --\nx\n-- new a.go --\ny\n"
	for _, c := range []struct{ what, text, want string }{
		{"no edit", "It is broken.\nbreaks: NoPanic\n", "has no edits"},
		{"no sentence", "breaks: NoPanic\n" + edit, "does not say what is broken"},
		{"no property", "It is broken.\n" + edit, "does not say which property"},
		{"a bad property", "It is broken.\nbreaks: no panic\n" + edit, "no name of a property"},
		{"half an edit", "It is broken.\nbreaks: NoPanic\n-- old a.go --\nx\n", "only one section"},
		{"two files", "It is broken.\nbreaks: NoPanic\n-- old a.go --\nx\n-- new b.go --\ny\n", "of one file"},
		{"two old sections", "It is broken.\nbreaks: NoPanic\n-- old a.go --\nx\n-- old a.go --\ny\n", "of one file"},
		{"no change", "It is broken.\nbreaks: NoPanic\n-- old a.go --\nx\n-- new a.go --\nx\n", "changes nothing"},
		{"nothing to interleave", "It is broken.\nbreaks: NoPanic\ninterleave: it races\n" + edit, "no goroutines to interleave"},
		{"nothing old", "It is broken.\nbreaks: NoPanic\n-- old a.go --\n-- new a.go --\nx\n", "has no old lines"},
	} {
		_, err := mutation.Parse("m", c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "m: ") {
			t.Errorf("%s: %v, want an error of m with %q", c.what, err, c.want)
		}
	}
}

func TestApply(t *testing.T) {
	m, err := mutation.Parse("example", example)
	if err != nil {
		t.Fatal(err)
	}
	const source = "func f() {\n\tdelete()\n\tupdate()\n}\n"
	got, err := m.Apply("a/b.go", source)
	if want := "func f() {\n\t_ = 1\n}\n"; err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	for what, text := range map[string]string{
		"lines that are gone":             "func f() {\n\tupdate()\n}\n",
		"lines that are there twice":      "func f() {\n\tdelete()\n\tupdate()\n\tdelete()\n}\n",
		"lines that are part of others":   "func f() {\n\tgo\tdelete()\n\tupdate()\n}\n",
		"lines that are there thrice":     "\tdelete()\n\tdelete()\n\tdelete()\n\tupdate()\n",
		"an edit that another one spoils": "\tdelete()\n",
	} {
		var stale *mutation.StaleError
		if _, err := m.Apply("a/b.go", text); !errors.As(err, &stale) || !strings.Contains(err.Error(), "example is stale") {
			t.Errorf("%s: %v, want a StaleError that names the mutant", what, err)
		}
	}
}

func TestLoad(t *testing.T) {
	all, err := mutation.Load(fstest.MapFS{
		"b.txtar":  {Data: []byte(example)},
		"a.txtar":  {Data: []byte(example)},
		"other.go": {Data: []byte("package other")},
	})
	if err != nil || len(all) != 2 || all[0].Name != "a" || all[1].Name != "b" {
		t.Errorf("%v, %v; want a and b", all, err)
	}
	_, err = mutation.Load(fstest.MapFS{"bad.txtar": {Data: []byte("nothing")}})
	if err == nil || !strings.Contains(err.Error(), "bad") {
		t.Errorf("%v, want an error that names the file", err)
	}
}
