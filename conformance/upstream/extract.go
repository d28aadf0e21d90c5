package upstream

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A Target is a package whose tests are run against another.
type Target struct {
	ImportPath string // whose tests
	ReplacedBy string // the package to test instead
	Dir        string // directory of this module in which the overlay places them; it need not exist
	// Adapter maps directories below the drop-in's to the files that let tests look inside its types; nil for none.
	Adapter map[string]string
}

// An Extraction is the result of extracting one package's tests.
type Extraction struct {
	Target  Target
	Files   map[string][]byte // file name to rewritten source
	Tests   []string          // the tests in Files, sorted
	LeftOut map[string]string // the other tests, with the first unexported name each needs
	Overlay map[string][]byte // the adapter's files, by destination
}

const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
	packages.NeedImports | packages.NeedExportFile

// Extract extracts the tests of the target's package.
func Extract(target Target) (*Extraction, error) {
	overlay, err := target.overlay()
	if err != nil {
		return nil, fmt.Errorf("upstream: the adapter: %w", err)
	}
	loaded, err := packages.Load(&packages.Config{Mode: loadMode, Tests: true, Overlay: overlay}, target.ImportPath, target.ReplacedBy)
	if err != nil {
		return nil, fmt.Errorf("upstream: loading %s: %w", target.ImportPath, err)
	}
	x := &Extraction{Target: target, Files: map[string][]byte{}, LeftOut: map[string]string{}, Overlay: overlay}
	var dropIn *types.Package
	for _, pkg := range loaded {
		if pkg.ID == target.ReplacedBy {
			dropIn = pkg.Types
			if len(pkg.Errors) > 0 {
				return nil, fmt.Errorf("upstream: %s does not type-check with its adapter: %w", pkg.ID, pkg.Errors[0])
			}
		}
	}
	for _, pkg := range loaded {
		internal := strings.HasSuffix(pkg.ID, ".test]") && pkg.PkgPath == target.ImportPath
		external := pkg.PkgPath == target.ImportPath+"_test"
		if !internal && !external {
			continue
		}
		if len(pkg.Errors) > 0 {
			return nil, fmt.Errorf("upstream: %s does not type-check: %w", pkg.ID, pkg.Errors[0])
		}
		s := newSuite(pkg, target, dropIn)
		if err := s.extract(x); err != nil {
			return nil, err
		}
	}
	slices.Sort(x.Tests)
	if len(x.Tests) == 0 {
		return nil, errors.New("upstream: no test of " + target.ImportPath + " can be extracted; is it the right package?")
	}
	return x, nil
}

// unit is a top-level declaration of a test file, a type together with its methods.
type unit struct {
	decls  []ast.Decl
	needs  map[*unit]bool
	taint  string // the unexported name of the package that it uses, if any
	wanted bool
}

// suite is one test package, split into units.
type suite struct {
	pkg    *packages.Package
	target Target
	dropIn *types.Package
	files  []*ast.File // the test files
	units  []*unit
	owner  map[string]*unit // by name of a top-level declaration
	tests  map[string]*unit
}

func newSuite(pkg *packages.Package, target Target, dropIn *types.Package) *suite {
	s := &suite{pkg: pkg, target: target, dropIn: dropIn, owner: map[string]*unit{}, tests: map[string]*unit{}}
	for _, file := range pkg.Syntax {
		if isTestFile(pkg.Fset, file) {
			s.files = append(s.files, file)
		}
	}
	for _, file := range s.files {
		for _, decl := range file.Decls {
			s.declare(decl)
		}
	}
	for _, u := range s.units {
		u.needs = map[*unit]bool{}
		for _, decl := range u.decls {
			s.inspect(u, decl)
		}
	}
	return s
}

func isTestFile(fset *token.FileSet, file *ast.File) bool {
	return strings.HasSuffix(fset.Position(file.Package).Filename, "_test.go")
}

func (s *suite) inTestFile(pos token.Pos) bool {
	return strings.HasSuffix(s.pkg.Fset.Position(pos).Filename, "_test.go")
}

// declare adds units. A method belongs to its type's unit, whichever comes first.
func (s *suite) declare(decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv != nil {
			s.declareMethod(decl)
			return
		}
		u := s.addTo(decl.Name.Name, decl)
		if isTest(decl) {
			s.tests[decl.Name.Name] = u
			if s.target.Adapter != nil {
				u.taint = beyond[decl.Name.Name]
			}
		}
	case *ast.GenDecl:
		if decl.Tok == token.IMPORT {
			return
		}
		var u *unit
		for _, name := range declaredNames(decl) {
			if u == nil {
				u = s.addTo(name, decl)
			} else {
				s.owner[name] = u
			}
		}
	}
}

// declareMethod adds a method to its type's unit, or, for a type of the package, as a function.
func (s *suite) declareMethod(decl *ast.FuncDecl) {
	name := receiverName(decl.Recv.List[0].Type)
	switch function := s.lifted(s.pkg.TypesInfo.Defs[decl.Name]); {
	case function != "":
		s.addTo(function, decl)
	case s.foreign(decl) == "":
		s.addTo(name, decl)
	}
}

func (s *suite) addTo(name string, decl ast.Decl) *unit {
	u := s.owner[name]
	if u == nil || name == "_" || name == "init" {
		u = &unit{}
		s.units = append(s.units, u)
		s.owner[name] = u
	}
	u.decls = append(u.decls, decl)
	return u
}

func declaredNames(decl *ast.GenDecl) (names []string) {
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			names = append(names, spec.Name.Name)
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

func isTest(decl *ast.FuncDecl) bool {
	name := decl.Name.Name
	return strings.HasPrefix(name, "Test") && name != "TestMain" || strings.HasPrefix(name, "Example")
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

// inspect finds the test code that a unit needs, and whether it uses unexported names of the package.
func (s *suite) inspect(u *unit, decl ast.Decl) {
	_, replaced := s.adapt(decl, "")
	ast.Inspect(decl, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if ok {
			if function := s.lifted(s.pkg.TypesInfo.Uses[id]); function != "" {
				u.needs[s.owner[function]] = true
			}
		}
		if replaced[n] {
			return false
		}
		if !ok {
			return true
		}
		obj := s.pkg.TypesInfo.Uses[id]
		if obj == nil || obj.Pkg() == nil || obj.Pkg() != s.pkg.Types {
			return true
		}
		if s.inTestFile(obj.Pos()) {
			if other := s.ownerOf(obj); other != nil {
				u.needs[other] = true
			}
		} else if !obj.Exported() && u.taint == "" {
			u.taint = obj.Name()
		}
		return true
	})
}

// ownerOf returns the unit that declares a name of the test files: a top-level name, or a method, which is not in the unit of
// its type if that type is the package's.
func (s *suite) ownerOf(obj types.Object) *unit {
	if obj.Parent() == s.pkg.Types.Scope() {
		return s.owner[obj.Name()]
	}
	fn, ok := obj.(*types.Func)
	if !ok {
		return nil
	}
	recv := fn.Signature().Recv()
	if recv == nil {
		return nil
	}
	if function := s.lifted(obj); function != "" {
		return s.owner[function]
	}
	t := recv.Type()
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	if named, ok := t.(*types.Named); ok {
		return s.owner[named.Obj().Name()]
	}
	return nil // a method of an interface literal: declared where it is used
}

// markTainted spreads a taint to everything that needs the tainted unit.
func (s *suite) markTainted() {
	for changed := true; changed; {
		changed = false
		for _, u := range s.units {
			if u.taint != "" {
				continue
			}
			for other := range u.needs {
				if other.taint != "" {
					u.taint = other.taint
					changed = true
					break
				}
			}
		}
	}
}

func (s *suite) want(u *unit) {
	if u.wanted {
		return
	}
	u.wanted = true
	for other := range u.needs {
		s.want(other)
	}
}

// extract selects the tests, rewrites their files, and adds both to x. It also skips tests that do not type-check from outside
// the package: a test can rely on methods that test files add to the package's types without naming one.
func (s *suite) extract(x *Extraction) error {
	for {
		s.markTainted()
		files, err := s.emit()
		if err != nil {
			return err
		}
		refused, err := s.typeCheck(files)
		if err != nil {
			return err
		}
		if refused == 0 {
			maps.Copy(x.Files, files)
			break
		}
	}
	for name, u := range s.tests {
		if u.taint != "" {
			x.LeftOut[name] = u.taint
		} else {
			x.Tests = append(x.Tests, name)
		}
	}
	return nil
}

func (s *suite) emit() (map[string][]byte, error) {
	for _, u := range s.units {
		u.wanted = false
	}
	for _, u := range s.tests {
		if u.taint == "" {
			s.want(u)
		}
	}
	if u := s.owner["TestMain"]; u != nil && u.taint == "" {
		s.want(u)
	}
	files := map[string][]byte{}
	for _, file := range s.files {
		source, err := s.rewrite(file)
		if err != nil {
			return nil, err
		}
		if source != nil {
			files[filepath.Base(s.pkg.Fset.Position(file.Package).Filename)] = source
		}
	}
	return files, nil
}
