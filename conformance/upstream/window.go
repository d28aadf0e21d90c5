package upstream

import (
	"embed"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Some tests look inside a type. The drop-in's types are implemented differently, but contain the same information: an
// adapter, a file overlaid on the drop-in when the tests are compiled, has functions that return it in client-go's form. They
// return the current values of the drop-in's fields, under the drop-in's lock, and keep no state. Tests that modify internals
// are skipped, except for a few flags that tests set before they begin.
//
//go:embed adapter/*.txt
var adapters embed.FS

// windows maps unexported fields to the adapter's functions that return the same.
var windows = map[string]string{
	"DeltaFIFO.items":                "UpstreamDeltas",
	"DeltaFIFO.queue":                "UpstreamKeys",
	"DeltaFIFO.lock":                 "UpstreamLock",
	"RealFIFO.items":                 "UpstreamItems",
	"RealFIFO.lock":                  "UpstreamLock",
	"RealFIFO.logger":                "UpstreamLogger",
	"RealFIFO.emitAtomicEvents":      "*UpstreamAtomic",
	"RealFIFO.emitDeltaTypeBookmark": "*UpstreamBookmarks",
}

// renamed maps unexported methods to exported ones of the drop-in.
var renamed = map[string]string{"RealFIFO.keyOf": "KeyOf"}

// exposed maps unexported functions to those that the adapter exports.
var exposed = map[string]string{
	"copyDeltas":           "UpstreamCopyDeltas",
	"processDeltas":        "UpstreamProcessDeltas",
	"processDeltasInBatch": "UpstreamProcessBatch",
}

// beyond maps tests that call exposed functions with arguments that the drop-in cannot accept to what they need.
var beyond = map[string]string{"TestProcessDeltasInBatch": "a processDeltasInBatch for stores other than the package's own"}

// constructors replace composite literals that set only a key function.
var constructors = map[string]struct{ function, rest string }{
	"DeltaFIFO": {"NewDeltaFIFO", "nil"},
	"RealFIFO":  {"NewRealFIFO", "QUALIFIER.NewStore(QUALIFIER.MetaNamespaceKeyFunc), nil"},
}

// lookers maps test helpers that only inspect an informer to a body that calls the adapter.
var lookers = map[string]string{
	"eventHandlerCount": "{\n\treturn QUALIFIER.UpstreamHandlers(i)\n}",
	"isStarted":         "{\n\treturn QUALIFIER.UpstreamStarted(i)\n}",
	"isRegistered":      "{\n\treturn QUALIFIER.UpstreamRegistered(i, h)\n}",
}

// span is a range of the source; it may be empty.
type span struct{ from, to token.Pos }

// Pos implements ast.Node.
func (s span) Pos() token.Pos { return s.from }

// End implements ast.Node.
func (s span) End() token.Pos { return s.to }

// overlay returns the adapter's files by destination, next to the drop-in's sources.
func (t Target) overlay() (map[string][]byte, error) {
	if t.Adapter == nil {
		return nil, nil
	}
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedFiles}, t.ReplacedBy)
	if err != nil {
		return nil, err
	}
	if len(loaded) != 1 || len(loaded[0].GoFiles) == 0 {
		return nil, fmt.Errorf("%s has no source", t.ReplacedBy)
	}
	dir := filepath.Dir(loaded[0].GoFiles[0])
	files := map[string][]byte{}
	for sub, name := range t.Adapter {
		source, err := adapters.ReadFile("adapter/" + name + ".go.txt")
		if err != nil {
			return nil, err
		}
		files[filepath.Join(dir, sub, "zz_upstream_adapter.go")] = source
	}
	return files, nil
}

// look returns the edits to a declaration that looks inside a type, and adds the replaced nodes to replaced.
func (s *suite) look(decl ast.Decl, qualifier string, replaced map[ast.Node]bool) (edits []edit) {
	if s.target.Adapter == nil {
		return nil
	}
	text := func(t string) string { return strings.ReplaceAll(t, "QUALIFIER", qualifier) }
	if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Body != nil && lookers[fn.Name.Name] != "" {
		replaced[fn.Body] = true
		return []edit{{fn.Body, text(lookers[fn.Name.Name])}}
	}
	if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv != nil {
		edits = append(edits, s.liftDecl(fn, qualifier, replaced)...)
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			edits = append(edits, s.construct(n, text, replaced)...)
		case *ast.CallExpr:
			edits = append(edits, s.liftCall(n, replaced)...)
		case *ast.SelectorExpr:
			name := s.memberName(n)
			if function := windows[name]; function != "" {
				star := strings.HasPrefix(function, "*")
				replaced[n.Sel] = true
				open := qualifier + "." + strings.TrimPrefix(function, "*") + "("
				if star {
					open = "*" + open
				}
				edits = append(edits, edit{span{n.X.Pos(), n.X.Pos()}, open}, edit{span{n.X.End(), n.End()}, ")"})
			} else if to := renamed[name]; to != "" {
				replaced[n.Sel] = true
				edits = append(edits, edit{n.Sel, to})
			}
		case *ast.Ident:
			if s.isUnexported(n) && exposed[n.Name] != "" {
				replaced[n] = true
				edits = append(edits, edit{n, qualifier + "." + exposed[n.Name]})
			}
		}
		return true
	})
	return edits
}

// memberName returns the qualified name of an unexported field or method of the package's types: "DeltaFIFO.items".
func (s *suite) memberName(n *ast.SelectorExpr) string {
	selection := s.pkg.TypesInfo.Selections[n]
	if selection == nil || !s.isUnexported(n.Sel) {
		return ""
	}
	return namedType(selection.Recv()) + "." + n.Sel.Name
}

func namedType(t types.Type) string {
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name()
	}
	return ""
}

// construct replaces a composite literal of a queue by a call of its constructor.
func (s *suite) construct(n *ast.CompositeLit, text func(string) string, replaced map[ast.Node]bool) []edit {
	id, ok := n.Type.(*ast.Ident)
	if !ok || len(n.Elts) != 1 {
		return nil
	}
	c, known := constructors[id.Name]
	kv, isKeyed := n.Elts[0].(*ast.KeyValueExpr)
	if !known || !isKeyed || s.inTestFile(s.pkg.TypesInfo.Uses[id].Pos()) {
		return nil
	}
	if key, ok := kv.Key.(*ast.Ident); !ok || key.Name != "keyFunc" {
		return nil
	}
	replaced[id], replaced[kv.Key] = true, true
	return []edit{
		{span{n.Pos(), kv.Value.Pos()}, text("*QUALIFIER." + c.function + "(")},
		{span{kv.Value.End(), n.End()}, text(", " + c.rest + ")")},
	}
}

// Tests add methods to the package's types, which no other package can. If the drop-in's type has a method of that name, it is
// called; any other method becomes a function.

// foreign returns the package's type that a method of a test file belongs to, or "" if the type is declared in a test.
func (s *suite) foreign(fn *ast.FuncDecl) string {
	name := receiverName(fn.Recv.List[0].Type)
	obj := s.pkg.Types.Scope().Lookup(name)
	if s.target.Adapter == nil || s.external() || obj == nil || s.inTestFile(obj.Pos()) {
		return ""
	}
	return name
}

// lifted returns the name of the function that a method of a test file becomes, or "" if it stays a method.
func (s *suite) lifted(obj types.Object) string {
	fn, ok := obj.(*types.Func)
	if !ok || s.target.Adapter == nil || fn.Signature().Recv() == nil || !s.inTestFile(fn.Pos()) {
		return ""
	}
	name := namedType(fn.Signature().Recv().Type())
	of := s.pkg.Types.Scope().Lookup(name)
	if of == nil || s.inTestFile(of.Pos()) || s.has(name, fn.Name()) {
		return ""
	}
	return name + "_" + fn.Name()
}

// has reports whether the drop-in's type has a method of that name.
func (s *suite) has(typeName, method string) bool {
	obj := s.dropIn.Scope().Lookup(typeName)
	if obj == nil {
		return false
	}
	found, _, _ := types.LookupFieldOrMethod(types.NewPointer(obj.Type()), true, s.dropIn, method)
	_, is := found.(*types.Func)
	return is
}

func (s *suite) liftDecl(fn *ast.FuncDecl, qualifier string, replaced map[ast.Node]bool) []edit {
	name := s.lifted(s.pkg.TypesInfo.Defs[fn.Name])
	if name == "" {
		return nil
	}
	replaced[fn.Recv], replaced[fn.Name] = true, true
	receiver := "_"
	if names := fn.Recv.List[0].Names; len(names) > 0 {
		receiver = names[0].Name
	}
	star := ""
	if _, ok := fn.Recv.List[0].Type.(*ast.StarExpr); ok {
		star = "*"
	}
	head := fmt.Sprintf("func %s(%s %s%s.%s, ", name, receiver, star, qualifier, s.foreign(fn))
	return []edit{{span{fn.Pos(), fn.Type.Params.Opening + 1}, head}}
}

func (s *suite) liftCall(n *ast.CallExpr, replaced map[ast.Node]bool) []edit {
	sel, ok := n.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	name := s.lifted(s.pkg.TypesInfo.Uses[sel.Sel])
	if name == "" {
		return nil
	}
	replaced[sel.Sel] = true
	open, comma := name+"(", ""
	if _, pointer := s.pkg.TypesInfo.TypeOf(sel.X).(*types.Pointer); !pointer {
		open += "&"
	}
	if len(n.Args) > 0 {
		comma = ", "
	}
	return []edit{{span{n.Pos(), n.Pos()}, open}, {span{sel.X.End(), n.Lparen + 1}, comma}}
}
