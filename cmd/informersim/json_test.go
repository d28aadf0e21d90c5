package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/informersim/informersim/cmd/internal/campaign"
	"github.com/informersim/informersim/internal/mutation"
	"github.com/informersim/informersim/reports"
)

// jsonRoots are the objects that commands print with --json, with the sections of docs/json.md that describe them.
var jsonRoots = map[string]reflect.Type{
	"A run": reflect.TypeFor[reports.Summary](), "A line of fuzz and merge": reflect.TypeFor[campaign.Line](), "A line of mutants": reflect.TypeFor[mutantLine](),
}

var (
	sectionLine = regexp.MustCompile(`(?m)^##+ (.+)$`)
	fieldLine   = regexp.MustCompile("(?m)^\\| `([A-Za-z0-9]+)` \\|")
)

// fieldsOf returns the names of a struct's fields in JSON, with their types; those of embedded structs are its own.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case f.Anonymous && name == "":
			embedded := f.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			for name, x := range fieldsOf(embedded) { // order: a map is filled
				all[name] = x
			}
		case name == "":
			all[f.Name] = f.Type
		default:
			all[name] = f.Type
		}
	}
	return all
}

// sectionOf returns the section of a type: its name, unless there are two of it.
func sectionOf(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[campaign.Summary]():
		return "Summary of fuzz and merge"
	case reflect.TypeFor[mutation.Summary]():
		return "Summary of mutants"
	}
	return t.Name()
}

// documented returns the fields of each section of docs/json.md.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	sections := map[string][]string{}
	heads := sectionLine.FindAllStringSubmatchIndex(text, -1)
	for n, h := range heads {
		end := len(text)
		if n+1 < len(heads) {
			end = heads[n+1][0]
		}
		var fields []string
		for _, m := range fieldLine.FindAllStringSubmatch(text[h[1]:end], -1) {
			fields = append(fields, m[1])
		}
		sections[text[h[2]:h[3]]] = fields
	}
	return sections
}

// Every field that a command can print as JSON is in the section of its object, and every field there exists.
func TestJSONIsDocumented(t *testing.T) {
	sections := documented(t)
	seen := map[reflect.Type]bool{}
	var check func(section string, of reflect.Type)
	check = func(section string, of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || seen[of] {
			return
		}
		seen[of] = true
		fields := fieldsOf(of)
		names := slices.Sorted(maps.Keys(fields))
		there, ok := sections[section]
		if !ok {
			t.Errorf("docs/json.md lacks the section %q, for %v with the fields %q", section, of, names)
		}
		for _, name := range names {
			if !slices.Contains(there, name) {
				t.Errorf("docs/json.md, %s: the field %q of %v is missing", section, name, of)
			}
		}
		for _, name := range there {
			if fields[name] == nil {
				t.Errorf("docs/json.md, %s: there is no field %q in %v", section, name, of)
			}
		}
		for _, name := range names {
			x := fields[name]
			for x.Kind() == reflect.Pointer || x.Kind() == reflect.Slice || x.Kind() == reflect.Map {
				x = x.Elem()
			}
			check(sectionOf(x), x)
		}
	}
	for _, section := range slices.Sorted(maps.Keys(jsonRoots)) {
		check(section, jsonRoots[section])
	}
}

// What commands print has the version first, in every line.
func TestJSONHasAVersion(t *testing.T) {
	inTemp(t, nil)
	withFlawed(t)
	start := fmt.Sprintf(`{"version":%d,`, reports.JSONVersion)
	for _, args := range [][]string{
		{"run", "--json"},
		{"run", "--json", "--seed", "1..3", "--subject", "flawed", "--fault-mix", "storm", "--trace", "traces", "--report", "r.html"},
		{"fuzz", "--json", "--seeds", "1..100", "--subject", "flawed", "--out", "out", "--shrink", "1s"},
		{"merge", "--json", "out", "--out", "sum"},
	} {
		got := command(t, args...)
		lines := strings.Split(strings.TrimSuffix(got.stdout, "\n"), "\n")
		for _, line := range lines {
			if !strings.HasPrefix(line, start) || !json.Valid([]byte(line)) {
				t.Errorf("%q prints %.100q; want a line that begins %q\n%s", args, line, start, got.stderr)
			}
		}
	}
}
