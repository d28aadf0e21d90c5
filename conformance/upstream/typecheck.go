package upstream

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/packages"
)

// typeCheck checks the rewritten files against the drop-in's exported names, taints the units that fail, and returns their
// number. The drop-in's own surface test checks that it exports everything that client-go does.
func (s *suite) typeCheck(files map[string][]byte) (refused int, err error) {
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file, err := parser.ParseFile(fset, name, files[name], parser.SkipObjectResolution)
		if err != nil {
			return 0, fmt.Errorf("upstream: %s as rewritten: %w", name, err)
		}
		parsed = append(parsed, file)
	}
	var unplaced error
	config := types.Config{
		Importer: importerOf{s},
		Error: func(err error) {
			var e types.Error
			if !errors.As(err, &e) || e.Soft {
				return
			}
			u := s.owner[enclosing(parsed, e.Pos)]
			switch {
			case u == nil:
				unplaced = fmt.Errorf("upstream: %s as rewritten: %w", fset.Position(e.Pos), err)
			case u.taint == "":
				u.taint = "internals: " + e.Msg
				refused++
			}
		},
	}
	// Check also returns the first error; all errors were handled above.
	_, _ = config.Check(s.target.ReplacedBy+"_test", fset, parsed, nil)
	if refused == 0 && unplaced != nil {
		return 0, unplaced
	}
	return refused, nil
}

// enclosing returns the name of the top-level declaration at pos; for a method, that of its receiver's type.
func enclosing(files []*ast.File, pos token.Pos) string {
	for _, file := range files {
		for _, decl := range file.Decls {
			if pos < decl.Pos() || decl.End() <= pos {
				continue
			}
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv != nil {
					return receiverName(decl.Recv.List[0].Type)
				}
				return decl.Name.Name
			case *ast.GenDecl:
				for _, name := range declaredNames(decl) {
					return name
				}
			}
		}
	}
	return ""
}

// importerOf imports packages from those that were loaded for a suite.
type importerOf struct{ s *suite }

// Import implements types.Importer.
func (i importerOf) Import(path string) (*types.Package, error) {
	if path == i.s.target.ReplacedBy {
		return i.s.dropIn, nil
	}
	var found *packages.Package
	if found = i.s.pkg.Imports[path]; found == nil || found.Types == nil {
		return nil, fmt.Errorf("upstream: %s is not imported by the tests of %s", path, i.s.target.ImportPath)
	}
	return found.Types, nil
}
