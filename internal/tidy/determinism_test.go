package tidy

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// violation is one place where a core package may behave differently from one run to the next.
type violation struct {
	at   token.Position
	rule string
	why  string
}

// forbidden maps the full names of functions that a core package may not use to the rule that they break.
var forbidden = map[string]string{}

func init() {
	for rule, names := range map[string][]string{
		"clock": {
			"time.Now", "time.Sleep", "time.After", "time.Since", "time.Until", "time.NewTimer", "time.NewTicker", "time.AfterFunc", "time.Tick",
			"context.WithTimeout", "context.WithDeadline", "context.WithTimeoutCause", "context.WithDeadlineCause", "context.AfterFunc",
			"k8s.io/apimachinery/pkg/apis/meta/v1.Now", "k8s.io/apimachinery/pkg/apis/meta/v1.NowMicro",
			"(*golang.org/x/time/rate.Limiter).Allow", "(*golang.org/x/time/rate.Limiter).Reserve", "(*golang.org/x/time/rate.Limiter).Wait",
			"(*golang.org/x/time/rate.Limiter).WaitN", "(*golang.org/x/time/rate.Limiter).Tokens",
			"(*golang.org/x/time/rate.Limiter).SetLimit", "(*golang.org/x/time/rate.Limiter).SetBurst",
		},
		"environment": {
			"os.Getenv", "os.LookupEnv", "os.Environ", "os.ExpandEnv", "os.Getpid", "os.Getppid", "os.Hostname", "os.Getwd", "os.TempDir",
			"os.UserHomeDir", "runtime.NumCPU", "runtime.NumGoroutine", "runtime.GOMAXPROCS", "runtime.Gosched",
		},
	} {
		for _, name := range names {
			forbidden[name] = rule
		}
	}
}

// forbiddenImports maps packages that a core package may not import to the rule that they break.
var forbiddenImports = map[string]string{
	"sync":                               "sync",
	"sync/atomic":                        "sync",
	"crypto/rand":                        "random",
	"hash/maphash":                       "random",
	"github.com/google/uuid":             "random",
	"k8s.io/apimachinery/pkg/util/rand":  "random",
	"k8s.io/apimachinery/pkg/util/uuid":  "random",
	"k8s.io/apimachinery/pkg/util/wait":  "clock",
	"k8s.io/client-go/util/flowcontrol":  "clock",
	"k8s.io/apimachinery/pkg/util/clock": "clock",
}

// mapOrder has the full names of functions whose result is in map order.
var mapOrder = map[string]bool{
	"maps.Keys": true, "maps.Values": true, "maps.All": true,
	"(reflect.Value).MapKeys": true, "(reflect.Value).MapRange": true,
	"(k8s.io/apimachinery/pkg/util/sets.Set[T]).UnsortedList": true, "(k8s.io/apimachinery/pkg/util/sets.Set[T]).PopAny": true,
	"(k8s.io/apimachinery/pkg/util/sets.String).UnsortedList": true, "(k8s.io/apimachinery/pkg/util/sets.String).PopAny": true,
}

// orderInsensitive has the functions whose result does not depend on the order of their argument.
var orderInsensitive = map[string]bool{
	"slices.Sorted": true, "slices.SortedFunc": true, "maps.Collect": true, "maps.Insert": true,
}

// orderMark starts the comment, on the line of a range over a map or right above it, that says why its order has no effect.
const orderMark = "order:"

// inspection collects the violations of one package.
type inspection struct {
	*checked
	found   []violation
	orders  map[string]map[int]*ast.Comment // by file and line
	used    map[*ast.Comment]bool
	ordered map[ast.Node]bool // calls in map order that are arguments of orderInsensitive functions
}

// determinism returns the violations in a package, in the order of the source.
func determinism(c *checked) []violation {
	in := &inspection{checked: c, orders: map[string]map[int]*ast.Comment{}, used: map[*ast.Comment]bool{}, ordered: map[ast.Node]bool{}}
	for _, f := range c.files {
		in.comments(f)
		in.imports(f)
		ast.Inspect(f, func(n ast.Node) bool {
			in.node(n)
			return true
		})
		in.staleComments(f)
	}
	slices.SortStableFunc(in.found, func(a, b violation) int {
		if a.at.Filename != b.at.Filename {
			return strings.Compare(a.at.Filename, b.at.Filename)
		}
		return a.at.Offset - b.at.Offset
	})
	return in.found
}

func (in *inspection) report(at token.Pos, rule, format string, args ...any) {
	in.found = append(in.found, violation{in.fset.Position(at), rule, fmt.Sprintf(format, args...)})
}

func (in *inspection) imports(f *ast.File) {
	for _, i := range f.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue // cannot happen: the file was parsed
		}
		if rule, bad := forbiddenImports[path]; bad {
			in.report(i.Pos(), rule, "a core package may not import %s", path)
		}
	}
}

func (in *inspection) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.GoStmt:
		in.report(n.Pos(), "goroutine", "a core package may not start a goroutine")
	case *ast.SendStmt, *ast.SelectStmt:
		in.report(n.Pos(), "channel", "a core package may not use a channel")
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			in.report(n.Pos(), "channel", "a core package may not use a channel")
		}
	case *ast.CallExpr:
		in.call(n)
	case *ast.RangeStmt:
		in.rangeOver(n)
	case *ast.Ident:
		in.use(n)
	}
}

func (in *inspection) call(n *ast.CallExpr) {
	if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok && id.Name == "make" && len(n.Args) > 0 {
		if _, isChan := in.coreType(n.Args[0]).(*types.Chan); isChan {
			in.report(n.Pos(), "channel", "a core package may not make a channel")
		}
	}
	if f := in.function(n.Fun); f != nil && orderInsensitive[f.Origin().FullName()] {
		for _, arg := range n.Args {
			if call, ok := ast.Unparen(arg).(*ast.CallExpr); ok {
				if id := nameOf(call.Fun); id != nil {
					in.ordered[id] = true
				}
			}
		}
	}
}

// function returns the function or method that an expression names, nil if it names none.
func (in *inspection) function(e ast.Expr) *types.Func {
	id := nameOf(e)
	if id == nil {
		return nil
	}
	f, _ := in.info.Uses[id].(*types.Func)
	return f
}

// nameOf returns the last identifier of a called expression, nil if there is none.
func nameOf(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return nameOf(e.X)
	case *ast.IndexListExpr:
		return nameOf(e.X)
	}
	return nil
}

func (in *inspection) rangeOver(n *ast.RangeStmt) {
	switch in.coreType(n.X).(type) {
	case *types.Chan:
		in.report(n.Pos(), "channel", "a core package may not use a channel")
	case *types.Map:
		if isBlank(n.Key) && isBlank(n.Value) {
			return // only counts
		}
		in.requireReason(n.Pos(), "a range over a map")
	}
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return e == nil || ok && id.Name == "_"
}

// coreType returns the underlying type of an expression; for a type parameter, the first map or channel in its constraint.
func (in *inspection) coreType(e ast.Expr) types.Type {
	tv, ok := in.info.Types[e]
	if !ok {
		return nil
	}
	u := tv.Type.Underlying()
	if p, ok := types.Unalias(tv.Type).(*types.TypeParam); ok {
		u = p.Constraint().Underlying()
	}
	if i, ok := u.(*types.Interface); ok {
		for j := range i.NumEmbeddeds() {
			switch e := i.EmbeddedType(j).(type) {
			case *types.Union:
				for k := range e.Len() {
					if t := e.Term(k).Type().Underlying(); isMapOrChan(t) {
						return t
					}
				}
			default:
				if t := e.Underlying(); isMapOrChan(t) {
					return t
				}
			}
		}
	}
	return u
}

func isMapOrChan(t types.Type) bool {
	switch t.(type) {
	case *types.Map, *types.Chan:
		return true
	}
	return false
}

func (in *inspection) use(id *ast.Ident) {
	switch obj := in.info.Uses[id].(type) {
	case *types.Func:
		name := obj.Origin().FullName()
		if rule, bad := forbidden[name]; bad {
			in.report(id.Pos(), rule, "a core package may not use %s", name)
		}
		if pkg := obj.Pkg(); pkg != nil && (pkg.Path() == "math/rand" || pkg.Path() == "math/rand/v2") && obj.Signature().Recv() == nil {
			in.report(id.Pos(), "random", "a core package draws from a sim.Stream, not with %s", name)
		}
		if mapOrder[name] && !in.ordered[id] {
			in.requireReason(id.Pos(), name)
		}
	case *types.TypeName:
		if obj.Pkg() != nil && obj.Pkg().Path() == "k8s.io/utils/clock" && obj.Name() == "RealClock" {
			in.report(id.Pos(), "clock", "a core package may not use the real clock")
		}
	}
}

// comments indexes the comments that explain an order by the line that they end on.
func (in *inspection) comments(f *ast.File) {
	for _, g := range f.Comments {
		for i, c := range g.List {
			if !isOrder(c) {
				continue
			}
			end := in.fset.Position(c.End())
			if rest := g.List[i+1:]; len(rest) > 0 {
				end = in.fset.Position(rest[len(rest)-1].End()) // the reason has several lines
			}
			if in.orders[end.Filename] == nil {
				in.orders[end.Filename] = map[int]*ast.Comment{}
			}
			in.orders[end.Filename][end.Line] = c
		}
	}
}

func isOrder(c *ast.Comment) bool {
	return strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(c.Text, "//")), orderMark)
}

// requireReason reports a violation unless a comment says why the order has no effect.
func (in *inspection) requireReason(pos token.Pos, what string) {
	at := in.fset.Position(pos)
	for _, line := range []int{at.Line, at.Line - 1} {
		c := in.orders[at.Filename][line]
		if c == nil {
			continue
		}
		in.used[c] = true
		_, reason, _ := strings.Cut(c.Text, orderMark)
		if len(strings.Fields(reason)) < 2 {
			in.report(pos, "map order", "the comment does not say why the order of %s has no effect", what)
		}
		return
	}
	in.report(pos, "map order", "%s has a different order each time: sort it, or say why the order has no effect in a comment `// %s …` on this line or above it", what, orderMark)
}

func (in *inspection) staleComments(f *ast.File) {
	for _, g := range f.Comments {
		for _, c := range g.List {
			if isOrder(c) && !in.used[c] {
				in.report(c.Pos(), "map order", "stale comment: no map is ranged over here")
			}
		}
	}
}

// The check finds exactly the lines marked WANT, each with its rule.
func TestDeterminismCheckFindsEach(t *testing.T) {
	const text = `package p

import (
	"context"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync" // WANT sync
	wall "time"

	"golang.org/x/time/rate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"
)

var mu sync.Mutex

type named map[string]int

func f(m map[string]int, n named, s sets.Set[string], ch chan int, ctx context.Context, l *rate.Limiter, at wall.Time) (out []string) {
	go f(m, n, s, ch, ctx, l, at) // WANT goroutine
	ch <- 1 // WANT channel
	<-ch // WANT channel
	select {} // WANT channel
	for range ch { // WANT channel
	}
	_ = make(chan int) // WANT channel
	_ = make([]int, 1)
	_ = wall.Now() // WANT clock
	sleep := wall.Sleep // WANT clock
	sleep(1)
	_ = wall.Since(at) // WANT clock
	_ = at.After(at)
	_ = wall.Duration(1)
	_, _ = context.WithTimeout(ctx, 1) // WANT clock
	_, _ = context.WithCancel(ctx)
	_ = metav1.Now() // WANT clock
	_ = metav1.NewTime(at)
	_ = l.Allow() // WANT clock
	_ = l.AllowN(at, 1)
	_ = clock.RealClock{} // WANT clock
	_ = rand.IntN(3) // WANT random
	_ = rand.New(nil) // WANT random
	_ = os.Getenv("X") // WANT environment
	for k := range m { // WANT map order
		out = append(out, k)
	}
	for k := range n { // WANT map order
		out = append(out, k)
	}
	for k := range m { // order: a sum does not depend on it
		m[k]++
	}
	// order: the result is sorted below,
	// as anybody can see
	for k := range m {
		out = append(out, k)
	}
	for k := range m { // order: // WANT map order
		m[k]++
	}
	for range m {
		out = append(out, "")
	}
	for k := range maps.Keys(m) { // WANT map order
		out = append(out, k)
	}
	out = slices.Collect(maps.Keys(m)) // WANT map order
	out = slices.Sorted(maps.Keys(m))
	values := maps.Values[map[string]int] // WANT map order
	_ = values
	out = s.UnsortedList() // WANT map order
	out = sets.List(s)
	for _, x := range out {
		_ = x
	}
	// order: of a slice is seen by everyone // WANT map order
	for range out {
	}
	return out
}

func g[M ~map[string]V, V any](m M) (sum int) {
	for range m {
		sum++
	}
	for k := range m { // WANT map order
		sum += len(k)
	}
	return sum
}
`
	want := map[int]string{}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		var rule string
		if lines[i], rule, _ = strings.Cut(line, "// WANT "); rule != "" {
			want[i+1] = rule
		}
	}
	s := mustLoad(t)
	c, err := s.check("p", []string{"p.go"}, func(string) ([]byte, error) { return []byte(strings.Join(lines, "\n")), nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range determinism(c) {
		if want[v.at.Line] != v.rule {
			t.Errorf("line %d breaks rule %q: %s; want %q", v.at.Line, v.rule, v.why, want[v.at.Line])
		}
		delete(want, v.at.Line)
	}
	for line, rule := range want {
		t.Errorf("line %d breaks rule %q, and the check missed it", line, rule)
	}
}

// The names in the tables exist: a typo would disable a check.
func TestForbiddenNamesExist(t *testing.T) {
	s := mustLoad(t)
	exists := func(name string) {
		if err := s.find(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name := range forbidden {
		exists(name)
	}
	for name := range mapOrder {
		exists(name)
	}
	for name := range orderInsensitive {
		exists(name)
	}
}

// find looks up a function or method by its full name.
func (s *source) find(name string) error {
	qualified, method, isMethod := strings.Cut(strings.TrimLeft(name, "(*"), ").")
	qualified, _, _ = strings.Cut(qualified, "[")
	dot := strings.LastIndex(qualified, ".")
	pkg, err := s.importer(token.NewFileSet()).Import(qualified[:dot])
	if err != nil {
		return err
	}
	obj := pkg.Scope().Lookup(qualified[dot+1:])
	if isMethod && obj != nil {
		obj, _, _ = types.LookupFieldOrMethod(types.NewPointer(obj.Type()), false, pkg, method)
	}
	if _, ok := obj.(*types.Func); !ok {
		return fmt.Errorf("no such function or method in %s", pkg.Path())
	}
	return nil
}
