package simtest_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// exported returns the exported names of a package's files, one line each, as a program that uses them sees them.
func exported(t *testing.T, folder string) (lines []string) {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	text := func(n ast.Node) string {
		var b bytes.Buffer
		if err := printer.Fprint(&b, set, n); err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(b.String()), " ")
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, folder+"/"+f.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if !d.Name.IsExported() || d.Recv != nil && !ast.IsExported(strings.TrimPrefix(text(d.Recv.List[0].Type), "*")) {
					continue
				}
				d.Doc, d.Body = nil, nil
				if d.Recv != nil {
					d.Recv.List[0].Names = nil
				}
				lines = append(lines, text(d))
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					lines = append(lines, exportedOf(d.Tok, spec, text)...)
				}
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func exportedOf(kind token.Token, spec ast.Spec, text func(ast.Node) string) (lines []string) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() {
				lines = append(lines, kind.String()+" "+name.Name)
			}
		}
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return nil
		}
		members := (*ast.FieldList)(nil)
		switch u := s.Type.(type) {
		case *ast.StructType:
			lines, members = append(lines, "type "+s.Name.Name+" struct"), u.Fields
		case *ast.InterfaceType:
			lines, members = append(lines, "type "+s.Name.Name+" interface"), u.Methods
		default:
			return append(lines, "type "+s.Name.Name+" "+text(s.Type))
		}
		for _, m := range members.List {
			if len(m.Names) == 0 {
				lines = append(lines, s.Name.Name+" embeds "+text(m.Type))
			}
			for _, name := range m.Names {
				if name.IsExported() {
					lines = append(lines, s.Name.Name+"."+name.Name+" "+text(m.Type))
				}
			}
		}
	}
	return lines
}

// changed are the lines of testdata/api.txt that do not hold any more, each with its reason.
var changed = map[string]string{
	"Options.Properties []property.Property":                        "properties are judged in the test's process, so their types are simtest's: Property, Checker, Record, Violation",
	"func (*Env) Cluster() *fakeapiserver.Cluster":                  "the cluster is in the engine's process: Cluster answers questions",
	"func (*Env) List(list runtime.Object, namespace string) error": "List takes options, too; calls without them compile",
	"var KindProcess": "kinds of records are strings, in Property.Kinds: \"process\"",
}

// Tests that were written against an earlier version compile: what testdata/api.txt lists is still there. New names need no line in it until they are
// released.
func TestAPIKeepsItsNames(t *testing.T) {
	data, err := os.ReadFile("testdata/api.txt")
	if err != nil {
		t.Fatal(err)
	}
	have := exported(t, ".")
	listed := strings.Split(strings.TrimSpace(string(data)), "\n")
	for _, line := range listed {
		if _, gone := changed[line]; gone == slices.Contains(have, line) {
			t.Errorf("%s: it is there: %v, and changed has a reason why not: %v", line, !gone, gone)
		}
	}
	for line, reason := range changed {
		if !slices.Contains(listed, line) || reason == "" {
			t.Errorf("changed has %q, with the reason %q, which testdata/api.txt does not list", line, reason)
		}
	}
}
