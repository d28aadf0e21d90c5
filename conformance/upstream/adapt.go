package upstream

import "go/ast"

// Some tests name something unexported where something exported would do. Those are taken too, with the one in the place of
// the other: each adaptation is listed here, and none changes what a test checks.

// assertedTypes are implementations that tests assert what a constructor returned to be, and the interface that has the
// methods they then call. A test that goes on to use a field is left out all the same.
var assertedTypes = map[string]string{
	"sharedIndexInformer": "SharedIndexInformer",
	"threadSafeMap":       "ThreadSafeStoreWithTransaction",
}

// literals are unexported constants by value.
var literals = map[string]string{
	"closedMsg": `"heap is closed"`,
}

// replacedFuncs are test helpers that look into an implementation, by the body that does without.
var replacedFuncs = map[string]string{
	// It waits until the delaying queue's goroutine has taken an item off its channel.
	"waitForWaitingQueueToFill": "{\n\ttime.Sleep(20 * time.Millisecond)\n\treturn nil\n}",
}

// edit replaces the text of a node.
type edit struct {
	node ast.Node
	text string
}

// adapt returns what to change in a declaration, and the nodes that need not be looked at because they are replaced.
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

// isUnexported says whether a name is the package's own, and not of its test files.
func (s *suite) isUnexported(id *ast.Ident) bool {
	obj := s.pkg.TypesInfo.Uses[id]
	return obj != nil && obj.Pkg() == s.pkg.Types && !obj.Exported() && !s.inTestFile(obj.Pos())
}
