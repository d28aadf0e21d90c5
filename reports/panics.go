package reports

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// PanicOf returns what Go prints of a panic or a fatal error that ends a process, or that was caught with its stack, as it may stand in a trace: the
// text, and the calls of the program under way, innermost first. It has no addresses and no folders, so equal runs have equal ones. "" if the text
// tells of no panic.
func PanicOf(text string) string {
	start := panics.FindStringIndex(text)
	if start == nil {
		return ""
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	head := withoutStacks(text)
	if i := strings.Index(head, "\n[signal "); i >= 0 {
		head = head[:i]
	}
	calls := callsIn(text[len(withoutStacks(text)):])
	if len(calls) == 0 {
		return head
	}
	return head + "\n  in " + strings.Join(calls, "\n  called by ")
}

// panics is how the text of a panic begins.
var panics = regexp.MustCompile(`(^|\n)(panic|fatal error): |panicked: `)

// The most calls of a panic's stack that are worth reading.
const maxCalls = 8

// callsIn returns the calls of the program in the first goroutine's stack of a text: without Go's own, and without those that handle the panic.
func callsIn(stacks string) (calls []string) {
	lines := strings.Split(strings.TrimLeft(stacks, " \t\n"), "\n")
	for n := 1; n < len(lines); n++ { // the first one says which goroutine it is
		line := strings.TrimSpace(lines[n])
		name, _, isCall := cutLast(line, "(")
		switch {
		case line == "" || strings.HasPrefix(line, "created by "):
			return calls
		case !isCall || strings.HasPrefix(line, "/"):
		case name == "panic":
			calls = nil // up to here it is about handling the panic
		case !goOwn(name) && len(calls) < maxCalls:
			if n+1 < len(lines) {
				name += position(lines[n+1])
			}
			calls = append(calls, name)
		}
	}
	return calls
}

// cutLast is [strings.Cut] at the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// goOwn reports whether a function is none of the program's: one of the runtime, or what a test runs its goroutines in.
func goOwn(name string) bool {
	for _, prefix := range []string{"runtime.", "runtime/debug.", "internal/", "testing.", "github.com/informersim/informersim/simtest.protected",
		"github.com/informersim/informersim/simtest.(*world).", "github.com/informersim/informersim/simtest.(*body)."} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// position returns " (controller.go:57)" of the line below a call.
func position(line string) string {
	line, _, _ = strings.Cut(strings.TrimSpace(line), " +0x")
	file, number, ok := cutLast(line, ":")
	if !ok {
		return ""
	}
	return fmt.Sprintf(" (%s:%s)", path.Base(strings.ReplaceAll(file, `\`, "/")), number)
}
