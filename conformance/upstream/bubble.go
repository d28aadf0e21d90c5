package upstream

import (
	"bytes"
	"go/ast"
	"go/types"
)

// hurried lists the tests that fail if something takes longer than a fraction of a second of real time, which says nothing of
// the code on a busy machine. They run in a synctest bubble, where the time they measure is what the code waits for.
var hurried = map[string]bool{
	"TestDeltaFIFO_PopShouldUnblockWhenClosed": true,
	"TestFIFO_PopShouldUnblockWhenClosed":      true,
	"TestNewReflectorWithCustomBackoff":        true,
	"TestRealFIFO_PopBrokenItemsInBatch":       true,
	"TestRealFIFO_PopMultipleDeltaInBatch":     true,
	"TestRealFIFO_PopShouldUnblockWhenClosed":  true,
	"TestSharedInformerErrorHandling":          true,
}

const (
	openBubble  = "{ synctest.Test(t, func(t *testing.T) "
	closeBubble = ") }"
)

// inBubble returns the edits that run a test's body in a bubble, or that of each of its subtests, since t.Run may not be called in
// one.
func inBubble(body *ast.BlockStmt) (edits []edit) {
	ast.Inspect(body, func(n ast.Node) bool {
		subtest := subtestOf(n)
		if subtest != nil {
			edits = append(edits, inBubble(subtest)...)
		}
		return subtest == nil
	})
	if len(edits) > 0 {
		return edits
	}
	return []edit{{span{body.Pos(), body.Pos()}, openBubble}, {span{body.End(), body.End()}, closeBubble}}
}

// subtestOf returns the body of the function literal that a call of t.Run runs, or nil.
func subtestOf(n ast.Node) *ast.BlockStmt {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return nil
	}
	method, _ := call.Fun.(*ast.SelectorExpr)
	literal, _ := call.Args[1].(*ast.FuncLit)
	if method == nil || method.Sel.Name != "Run" || literal == nil {
		return nil
	}
	return literal.Body
}

// needsSynctest reports whether rewritten declarations need an import of testing/synctest that the file did not have.
func needsSynctest(body []byte, used map[*types.PkgName]bool) bool {
	for name := range used { // the order does not matter: any one will do
		if name.Imported().Path() == "testing/synctest" {
			return false
		}
	}
	return bytes.Contains(body, []byte(openBubble))
}
