package bubble

import (
	"fmt"
	"path"
	"strings"
)

// Frame is one call on a goroutine's stack.
type Frame struct {
	Function string // with its package
	Position string // the file, as the compiler was given it, and the line
	User     bool   // neither the standard library's, nor a downloaded module's, nor this module's
}

// A printed stack has so many of the innermost and of the outermost calls. A recursion that never ends has very many; in a loop, the outermost say whose it is.
const innerFrames, outerFrames = 25, 15

// module is the import path of this module: what its users did not write.
const module = "github.com/informersim/informersim/"

// String returns the frame as "pkg.f (file.go:12)".
func (f Frame) String() string { return fmt.Sprintf("%s (%s)", f.Function, path.Base(f.Position)) }

// frameOf reads two lines of a stack.
func frameOf(function, position string) Frame {
	function = strings.TrimPrefix(function, "created by ")
	function, _, _ = strings.Cut(function, " in goroutine ")
	if i := strings.LastIndex(function, "("); i > 0 && strings.HasSuffix(function, ")") {
		function = function[:i]
	}
	position, _, _ = strings.Cut(strings.TrimSpace(position), " +0x")
	return Frame{Function: function, Position: position, User: ofUser(function, position)}
}

// packageOf returns the import path of a function's package.
func packageOf(function string) string {
	slash := strings.LastIndex(function, "/") + 1
	pkg, _, _ := strings.Cut(function[slash:], ".")
	return function[:slash] + pkg
}

// ofUser reports whether a function is the program's own.
func ofUser(function, position string) bool {
	pkg := packageOf(function)
	file := position
	if i := strings.LastIndex(file, ":"); i > 0 {
		file = file[:i]
	}
	dir := path.Dir(file)
	first, _, _ := strings.Cut(pkg, "/")
	switch {
	case strings.HasSuffix(dir, "/src/"+pkg), dir == pkg && !strings.Contains(first, "."): // the standard library; the latter with -trimpath
		return false
	case dir == "runtime", strings.HasSuffix(dir, "/src/runtime"): // what it lends to other packages: time.Sleep, for one
		return false
	case strings.Contains(file, "@v"), strings.Contains(file, "/vendor/"): // a module from the cache, or a copy of one
		return false
	case strings.HasPrefix(pkg+"/", module):
		return strings.HasSuffix(file, "_test.go")
	}
	return true
}

// owned tell whose calls count most: the program's own, then those of a controller that it tests.
var owned = [...]func(Frame) bool{func(f Frame) bool { return f.User }, Frame.ofController}

// ofController reports whether a function may be that of a controller which the program takes from another module: it is neither
// the standard library's nor Kubernetes' nor this module's.
func (f Frame) ofController() bool {
	pkg := packageOf(f.Function)
	first, _, _ := strings.Cut(pkg, "/")
	return pkg != "main" && strings.Contains(first, ".") && first != "k8s.io" && first != "golang.org" && !strings.HasPrefix(pkg, "sigs.k8s.io/controller-runtime") &&
		!strings.HasPrefix(pkg+"/", module)
}

// trace prints a goroutine's whole stack, with marks at the program's own frames.
func (g Goroutine) trace() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s\n", g.State)
	outer := max(len(g.Stack)-outerFrames, innerFrames)
	for i, f := range g.Stack {
		if i >= innerFrames && i < outer {
			if i == innerFrames {
				fmt.Fprintf(&b, "    … and %d more\n", outer-i)
			}
			continue
		}
		mark := " "
		if f.User {
			mark = ">"
		}
		where := f.Function
		if i == len(g.Stack)-1 && g.Started != "the run" {
			where = "started by " + where
		}
		fmt.Fprintf(&b, "  %s %s\n        %s\n", mark, where, f.Position)
	}
	return b.String()
}
