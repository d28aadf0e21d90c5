package apisurface

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os/exec"
	"slices"
	"strings"
)

// Surface maps each exported identifier of a package ("NewStore", "Heap.Add") to its declaration: the signature of a
// function without parameter names, the kind of a type, "var" or "const".
type Surface map[string]string

// Alias marks a type that is an alias of another package's type and has its methods.
const Alias = "type alias"

// ModuleDir returns the directory of the module's source according to the go command.
func ModuleDir(module string) (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("apisurface: go list -m %s: %w; is it in go.mod and downloaded?", module, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Read parses the package in dir, without its tests. Signatures omit the package's own name and those in dropped as
// qualifiers, so that cache.Store and Store compare equal.
func Read(dir string, dropped ...string) (Surface, error) {
	fset := token.NewFileSet()
	notTest := func(info fs.FileInfo) bool { return !strings.HasSuffix(info.Name(), "_test.go") }
	packages, err := parser.ParseDir(fset, dir, notTest, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("apisurface: %w", err)
	}
	r := reader{surface: Surface{}, dropped: dropped, hidden: Surface{}, embeds: map[string][]string{}}
	for _, pkg := range packages {
		for _, file := range pkg.Files {
			for _, decl := range file.Decls {
				r.add(decl)
			}
		}
	}
	r.promote()
	return r.surface, nil
}

// reader builds a Surface.
type reader struct {
	surface Surface
	dropped []string
	hidden  Surface             // exported methods of unexported types
	embeds  map[string][]string // type to the types of the package that it embeds
}

// promote adds to each exported type the methods that it has by embedding.
func (r *reader) promote() {
	for _, name := range r.surface.Names() {
		r.promoteFrom(name, name)
	}
}

func (r *reader) promoteFrom(outer, inner string) {
	for _, embedded := range r.embeds[inner] {
		for _, methods := range []Surface{r.surface, r.hidden} {
			for _, name := range methods.Names() {
				method, isMethod := strings.CutPrefix(name, embedded+".")
				if _, own := r.surface[outer+"."+method]; isMethod && !own {
					r.surface[outer+"."+method] = methods[name]
				}
			}
		}
		r.promoteFrom(outer, embedded)
	}
}

// Names returns the identifiers in order.
func (s Surface) Names() []string {
	names := make([]string, 0, len(s))
	for name := range s {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Missing lists the identifiers of want that are not in s, or have another signature in it. Methods of a type that is an
// alias in s count as present.
func (s Surface) Missing(want Surface) (missing []string) {
	for _, name := range want.Names() {
		got, ok := s[name]
		if typeName, _, isMethod := strings.Cut(name, "."); !ok && isMethod && s[typeName] == Alias {
			continue
		}
		switch {
		case !ok:
			missing = append(missing, fmt.Sprintf("%s is missing: %s", name, want[name]))
		case strings.HasPrefix(want[name], "func") && got != want[name] && got != "var":
			missing = append(missing, fmt.Sprintf("%s is %s, want %s", name, got, want[name]))
		}
	}
	return missing
}

func (r *reader) add(decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if !decl.Name.IsExported() {
			return
		}
		name, to := decl.Name.Name, r.surface
		if decl.Recv != nil {
			receiver := receiverName(decl.Recv.List[0].Type)
			if !ast.IsExported(receiver) {
				to = r.hidden
			}
			name = receiver + "." + name
		}
		to[name] = signature(decl.Type, r.dropped)
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() {
					r.surface[spec.Name.Name] = typeKind(spec)
				}
				r.embeds[spec.Name.Name] = embedded(spec.Type)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					if name.IsExported() {
						r.surface[name.Name] = decl.Tok.String()
					}
				}
			}
		}
	}
}

// embedded returns the names of the package's own types that a struct embeds.
func embedded(expr ast.Expr) (names []string) {
	structure, ok := expr.(*ast.StructType)
	if !ok {
		return nil
	}
	for _, field := range structure.Fields.List {
		if name := receiverName(field.Type); len(field.Names) == 0 && name != "" {
			names = append(names, name)
		}
	}
	return names
}

func typeKind(spec *ast.TypeSpec) string {
	if _, qualified := spec.Type.(*ast.SelectorExpr); spec.Assign.IsValid() && qualified {
		return Alias
	}
	if indexed, ok := spec.Type.(*ast.IndexExpr); ok && spec.Assign.IsValid() {
		if _, qualified := indexed.X.(*ast.SelectorExpr); qualified {
			return Alias
		}
	}
	return "type"
}

func receiverName(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return receiverName(expr.X)
	case *ast.IndexExpr:
		return receiverName(expr.X)
	case *ast.IndexListExpr:
		return receiverName(expr.X)
	case *ast.Ident:
		return expr.Name
	}
	return ""
}

// signature prints only the types: parameter names may differ.
func signature(fn *ast.FuncType, dropped []string) string {
	var b strings.Builder
	b.WriteString("func(")
	writeTypes(&b, fn.Params, dropped)
	b.WriteString(")")
	if fn.Results != nil {
		b.WriteString(" (")
		writeTypes(&b, fn.Results, dropped)
		b.WriteString(")")
	}
	return b.String()
}

func writeTypes(b *strings.Builder, fields *ast.FieldList, dropped []string) {
	first := true
	for _, field := range fields.List {
		for range max(len(field.Names), 1) {
			if !first {
				b.WriteString(", ")
			}
			first = false
			b.WriteString(typeString(field.Type, dropped))
		}
	}
}

func typeString(expr ast.Expr, dropped []string) string {
	if fn, ok := expr.(*ast.FuncType); ok {
		return signature(fn, dropped)
	}
	var b bytes.Buffer
	if err := printer.Fprint(&b, token.NewFileSet(), expr); err != nil {
		return err.Error()
	}
	s := b.String()
	for _, qualifier := range dropped {
		s = strings.ReplaceAll(s, qualifier+".", "")
	}
	return strings.ReplaceAll(s, "interface{}", "any")
}
