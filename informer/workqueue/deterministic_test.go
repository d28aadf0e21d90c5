package workqueue

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// TestNothingWaits walks the package's source: nothing in it may make a step depend on anything but its arguments.
func TestNothingWaits(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	walked := 0
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		walked++
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, file.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			switch path := strings.Trim(spec.Path.Value, `"`); path {
			case "math", "time", "golang.org/x/time/rate":
			default:
				t.Errorf("%s: imports %s; allowed are math, time and golang.org/x/time/rate", fset.Position(spec.Pos()), path)
			}
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt, *ast.ChanType, *ast.SendStmt, *ast.SelectStmt:
				t.Errorf("%s: uses a goroutine or a channel", fset.Position(n.Pos()))
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "time" && isClockReader(n.Sel.Name) {
					t.Errorf("%s: time.%s reads the real clock", fset.Position(n.Pos()), n.Sel.Name)
				}
			case *ast.CallExpr:
				sel, ok := n.Fun.(*ast.SelectorExpr)
				if ok && isClockReadingLimiterMethod(sel.Sel.Name) {
					t.Errorf("%s: %s reads the real clock inside the rate package", fset.Position(n.Pos()), sel.Sel.Name)
				}
			case *ast.RangeStmt:
				if x, ok := n.X.(*ast.SelectorExpr); ok && (x.Sel.Name == "index" || x.Sel.Name == "failures") {
					t.Errorf("%s: ranges over the map %s", fset.Position(n.Pos()), x.Sel.Name)
				}
			}
			return true
		})
	}
	if walked < 5 {
		t.Fatalf("walked only %d files: the test looks in the wrong place", walked)
	}
}

func isClockReader(name string) bool {
	switch name {
	case "Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick":
		return true
	}
	return false
}

func isClockReadingLimiterMethod(name string) bool {
	switch name {
	case "Allow", "Reserve", "Wait", "WaitN", "Delay", "Tokens", "SetLimit", "SetBurst":
		return true
	}
	return false
}
