package upstream

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"os"
	"path"
	"slices"
	"strings"
)

// rewrite returns the wanted declarations of a file as a file of an external test package, or nil if there are none.
func (s *suite) rewrite(file *ast.File) ([]byte, error) {
	name := s.pkg.Fset.Position(file.Package).Filename
	source, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("upstream: %w", err)
	}
	kept := s.wantedDecls(file)
	if len(kept) == 0 {
		return nil, nil
	}
	qualifier := s.freeName(file, "subject")
	used := map[*types.PkgName]bool{}
	var body bytes.Buffer
	for _, decl := range kept {
		s.copyDecl(&body, source, decl, qualifier, used)
	}

	var out bytes.Buffer
	fmt.Fprintf(&out, "package %s_test\n\nimport (\n", path.Base(s.target.ReplacedBy))
	if !s.external() && bytes.Contains(body.Bytes(), []byte(qualifier+".")) {
		fmt.Fprintf(&out, "\t%s %q\n", qualifier, s.target.ReplacedBy)
	}
	if needsSynctest(body.Bytes(), used) {
		out.WriteString("\t\"testing/synctest\"\n")
	}
	for _, spec := range file.Imports {
		s.copyImport(&out, spec, used)
	}
	out.WriteString(")\n")
	out.Write(body.Bytes())
	formatted, err := format.Source(out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("upstream: %s as rewritten: %w", name, err)
	}
	return formatted, nil
}

func (s *suite) external() bool { return strings.HasSuffix(s.pkg.PkgPath, "_test") }

func (s *suite) wantedDecls(file *ast.File) (kept []ast.Decl) {
	for _, u := range s.units {
		if !u.wanted {
			continue
		}
		for _, decl := range u.decls {
			if file.FileStart <= decl.Pos() && decl.Pos() < file.FileEnd {
				kept = append(kept, decl)
			}
		}
	}
	slices.SortFunc(kept, func(a, b ast.Decl) int { return int(a.Pos() - b.Pos()) })
	return kept
}

// freeName returns a name that is not used in the file.
func (s *suite) freeName(file *ast.File, name string) string {
	taken := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			taken[id.Name] = true
		}
		return true
	})
	for taken[name] {
		name += "_"
	}
	return name
}

// copyDecl copies a declaration's text, qualifying the package's own names, and records the imports it uses.
func (s *suite) copyDecl(out *bytes.Buffer, source []byte, decl ast.Decl, qualifier string, used map[*types.PkgName]bool) {
	edits, replaced := s.adapt(decl, qualifier)
	ast.Inspect(decl, func(n ast.Node) bool {
		if replaced[n] {
			return false
		}
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		switch obj := s.pkg.TypesInfo.Uses[id].(type) {
		case nil:
		case *types.PkgName:
			used[obj] = true
		default:
			if !s.external() && obj.Parent() == s.pkg.Types.Scope() && !s.inTestFile(obj.Pos()) {
				edits = append(edits, edit{id, qualifier + "." + id.Name})
			}
		}
		return true
	})
	slices.SortStableFunc(edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.node.Pos(), b.node.Pos()), cmp.Compare(a.node.End(), b.node.End()))
	})
	from := s.offset(decl.Pos())
	out.WriteString("\n")
	for _, e := range edits {
		out.Write(source[from:s.offset(e.node.Pos())])
		out.WriteString(e.text)
		from = s.offset(e.node.End())
	}
	out.Write(source[from:s.offset(decl.End())])
	out.WriteString("\n")
}

func (s *suite) offset(pos token.Pos) int { return s.pkg.Fset.Position(pos).Offset }

func (s *suite) copyImport(out *bytes.Buffer, spec *ast.ImportSpec, used map[*types.PkgName]bool) {
	name := ""
	if spec.Name != nil {
		name = spec.Name.Name
	}
	obj, _ := s.pkg.TypesInfo.Implicits[spec].(*types.PkgName)
	if obj == nil && spec.Name != nil {
		obj, _ = s.pkg.TypesInfo.Defs[spec.Name].(*types.PkgName)
	}
	if name != "_" && (obj == nil || !used[obj]) {
		return
	}
	importPath := strings.Trim(spec.Path.Value, `"`)
	if importPath == s.target.ImportPath {
		name, importPath = obj.Name(), s.target.ReplacedBy
	}
	fmt.Fprintf(out, "\t%s %q\n", name, importPath)
}
