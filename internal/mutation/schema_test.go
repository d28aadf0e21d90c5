package mutation

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const original = `package main

import "fmt"

type box[T comparable] struct{ items []T }

func (b *box[T]) put(_ string, items ...T) { b.items = append(b.items, items...) }

func (b box[T]) has(item T) (found bool) {
	for _, have := range b.items {
		if have == item {
			return true
		}
	}
	return false
}

func first[T any](items []T, or T) T {
	if len(items) > 0 {
		return items[0]
	}
	return or
}

func unnamed(int, ...string) int { return 1 }

func main() {
	b := &box[int]{}
	b.put("", 1, 2)
	fmt.Println(len(b.items), b.has(1), first([]int{7}, 3), unnamed(1, "a", "b"))
}
`

// variants are mutants of the program above, and what each prints.
var variants = []struct{ old, new, prints string }{
	{"append(b.items, items...) }\n", "append(b.items, items[1:]...) }\n", "1 false 7 1"},
	{"\t\t\treturn true\n", "\t\t\treturn false\n", "2 false 7 1"},
	{"\treturn false\n}\n", "\treturn true\n}\n", "2 true 7 1"},
	{"\t\treturn items[0]\n", "\t\treturn or\n", "2 true 3 1"},
	{"{ return 1 }\n", "{ return 2 }\n", "2 true 7 2"},
}

// A schema's program is the original, and each of its mutants, as the environment says.
func TestSchema(t *testing.T) {
	const file = "/src/main.go"
	s := &schema{files: map[string]*schemaFile{}}
	mutated := make([]string, len(variants)+1)
	for i, v := range variants {
		mutated[i] = strings.Replace(original, v.old, v.new, 1)
	}
	// The last one needs an import and changes two functions.
	mutated[5] = strings.Replace(original, "import \"fmt\"\n", "import (\n\t\"fmt\"\n\t\"strings\"\n)\n", 1)
	mutated[5] = strings.Replace(mutated[5], "{ return 1 }", "{ return len(strings.Repeat(\"x\", 9)) }", 1)
	mutated[5] = strings.Replace(mutated[5], "b.put(\"\", 1, 2)", "b.put(\"\", 4)", 1)
	for i, text := range mutated {
		if text == original {
			t.Fatalf("mutant %d changes nothing", i)
		}
		if !s.add(i+1, map[string]string{file: original}, map[string]string{file: text}) {
			t.Fatalf("mutant %d does not fit", i+1)
		}
	}
	prints := []string{"2 true 7 1"}
	for _, v := range variants {
		prints = append(prints, v.prints)
	}
	prints = append(prints, "1 false 7 9")

	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.org/m\n\ngo 1.26\n")
	for name, text := range s.texts() { // order: each has a file of its own
		write(filepath.Base(name), text)
	}
	program := filepath.Join(dir, "m")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, s.texts()[file])
	}
	for n, want := range prints {
		run := exec.Command(program)
		run.Env = append(os.Environ(), fmt.Sprintf("%s=%d", activeEnv, n))
		out, err := run.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("mutant %d prints %q, %v; want %q", n, got, err, want)
		}
	}
}

// What is not inside a function does not fit.
func TestSchemaRefuses(t *testing.T) {
	for what, text := range map[string]string{
		"a type":         strings.Replace(original, "struct{ items []T }", "struct{ items []T; n int }", 1),
		"a signature":    strings.Replace(original, "func unnamed(int, ", "func unnamed(uint, ", 1),
		"a new function": original + "\nfunc more() {}\n",
		"no change":      original,
		"no Go":          original + "\nfunc {\n",
	} {
		s := &schema{files: map[string]*schemaFile{}}
		if s.add(1, map[string]string{"/m.go": original}, map[string]string{"/m.go": text}) || len(s.files) > 0 {
			t.Errorf("%s fits into a schema", what)
		}
	}
}

// A compiler's message leads to the mutants that it is about.
func TestInMessage(t *testing.T) {
	texts := map[string]string{
		"/a.go": "package a\n\nfunc f() {\n}\n",
		"/b.go": "package a\n\nfunc (b *box[T]) put__12(x T) {\n\tx()\n}\n\nfunc g__3[T any]() {\n\ty()\n}\n",
	}
	for message, want := range map[string]string{
		"overlays/all/1-b.go:4:2: no":                    "[12]",
		"overlays/all/1-b.go:8:2: no\nx/1-b.go:3:2: too": "[3 12]",
		"overlays/all/0-a.go:3:2: no":                    "[]",
		"overlays/all/1-b.go:99:2: no":                   "[3]",
		"somewhere else":                                 "[]",
	} {
		if got := fmt.Sprint(inMessage(texts, message)); got != want {
			t.Errorf("%q is about %s, want %s", message, got, want)
		}
	}
}
