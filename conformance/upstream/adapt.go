package upstream

import "go/ast"

// Some tests use an unexported name where an exported one would do. Those are taken too, with the name replaced: each
// adaptation is listed here, and none changes what a test checks.

// assertedTypes maps the implementations that tests type-assert the result of a constructor to, to the interface with the
// methods they then call. A test that also uses a field is still skipped.
var assertedTypes = map[string]string{
	"sharedIndexInformer": "SharedIndexInformer",
	"threadSafeMap":       "ThreadSafeStoreWithTransaction",
}

// literals maps unexported constants to their values.
var literals = map[string]string{
	"closedMsg": `"heap is closed"`,
}

// replacedFuncs maps test helpers that inspect an implementation to a body that does not.
var replacedFuncs = map[string]string{
	// It waits until the delaying queue's goroutine has received an item from its channel.
	"waitForWaitingQueueToFill": "{\n\ttime.Sleep(20 * time.Millisecond)\n\treturn nil\n}",
}

// An edit replaces the text of a node.
type edit struct {
	node ast.Node
	text string
}

// adapt returns the edits to a declaration, and the replaced nodes, which need no inspection.
func (s *suite) adapt(decl ast.Decl, qualifier string) (edits []edit, replaced map[ast.Node]bool) {
	replaced = map[ast.Node]bool{}
	replace := func(n ast.Node, text string) {
		edits = append(edits, edit{n, text})
		replaced[n] = true
	}
	if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Body != nil {
		if body, ok := replacedFuncs[fn.Name.Name]; ok {
			replace(fn.Body, body)
			return edits, replaced
		}
	}
	if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && hurried[fn.Name.Name] {
		edits = inBubble(fn.Body)
	}
	if more := s.look(decl, qualifier, replaced); more != nil {
		edits = append(edits, more...)
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		if replaced[n] {
			return false
		}
		switch n := n.(type) {
		case *ast.TypeAssertExpr:
			star, _ := n.Type.(*ast.StarExpr)
			if star == nil {
				return true
			}
			id, _ := star.X.(*ast.Ident)
			if id != nil && s.isUnexported(id) && assertedTypes[id.Name] != "" {
				replace(star, qualifier+"."+assertedTypes[id.Name])
			}
		case *ast.Ident:
			if s.isUnexported(n) && literals[n.Name] != "" {
				replace(n, literals[n.Name])
			}
		}
		return true
	})
	return edits, replaced
}

// isUnexported reports whether a name belongs to the package itself rather than to its test files.
func (s *suite) isUnexported(id *ast.Ident) bool {
	obj := s.pkg.TypesInfo.Uses[id]
	return obj != nil && obj.Pkg() == s.pkg.Types && !obj.Exported() && !s.inTestFile(obj.Pos())
}
