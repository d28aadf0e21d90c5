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

// Some tests look inside of a type to see what is in it. The drop-in's types are made otherwise, but what the tests look at is
// in them too: a file that is overlaid on the drop-in when they are compiled, an adapter, has functions that give it in
// client-go's form. They return what the drop-in's own fields hold at that moment, under the drop-in's own lock, and keep
// nothing; a test that changes what it sees inside is left out. Only a few flags, which tests set before they begin, are
// passed on.
//
//go:embed adapter/*.txt
var adapters embed.FS

// windows are unexported fields, by type, with the adapter's functions that give the same.
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

// renamed are unexported methods that are exported in the drop-in.
var renamed = map[string]string{"RealFIFO.keyOf": "KeyOf"}

// exposed are unexported functions that the adapter exports.
var exposed = map[string]string{
	"copyDeltas":           "UpstreamCopyDeltas",
	"processDeltas":        "UpstreamProcessDeltas",
	"processDeltasInBatch": "UpstreamProcessBatch",
}

// beyond are tests that give what is exposed something that the drop-in's cannot take, with what that is.
var beyond = map[string]string{"TestProcessDeltasInBatch": "a processDeltasInBatch for stores other than the package's own"}

// constructors make what tests write as a literal with a key function alone.
var constructors = map[string]struct{ function, rest string }{
	"DeltaFIFO": {"NewDeltaFIFO", "nil"},
	"RealFIFO":  {"NewRealFIFO", "QUALIFIER.NewStore(QUALIFIER.MetaNamespaceKeyFunc), nil"},
}

// lookers are test helpers that do nothing but look into an informer, by the body that asks the adapter.
var lookers = map[string]string{
	"eventHandlerCount": "{\n\treturn QUALIFIER.UpstreamHandlers(i)\n}",
	"isStarted":         "{\n\treturn QUALIFIER.UpstreamStarted(i)\n}",
	"isRegistered":      "{\n\treturn QUALIFIER.UpstreamRegistered(i, h)\n}",
}

// span is a part of the source; it may be empty.
type span struct{ from, to token.Pos }

// Pos implements ast.Node.
func (s span) Pos() token.Pos { return s.from }

// End implements ast.Node.
func (s span) End() token.Pos { return s.to }

// overlay is the adapter's files by where they are to be: beside the drop-in's.
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

// look returns what to change in a declaration where it looks inside of a type, and tells of the nodes that are replaced.
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

// memberName is the name of an unexported field or method of the package's types, with that of the type: "DeltaFIFO.items".
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

// construct replaces a literal of a queue by its constructor.
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

// Tests give methods to the package's types, which no other package can. Where the drop-in's type has one of that name it is
// called; any other becomes a function.

// foreign is the type of the package that a method of a test file belongs to; "" if it is of a type of the tests.
func (s *suite) foreign(fn *ast.FuncDecl) string {
	name := receiverName(fn.Recv.List[0].Type)
	obj := s.pkg.Types.Scope().Lookup(name)
	if s.target.Adapter == nil || s.external() || obj == nil || s.inTestFile(obj.Pos()) {
		return ""
	}
	return name
}

// lifted is the name of the function that a method of a test file becomes; "" if it stays a method.
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

// has tells whether the drop-in's type has a method of that name.
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
