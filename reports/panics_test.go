package reports_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informersim/informersim/reports"
)

// What Go prints of a panic becomes its text and the program's calls, whichever way it came to be printed.
func TestPanicOf(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{ // order: each by itself
		"a caught one": {"the process p panicked: assignment to entry in nil map\ngoroutine 12 [running, synctest bubble 3]:\nruntime/debug.Stack()\n" +
			"\t/go/src/runtime/debug/stack.go:26 +0x5e\ngithub.com/informersim/informersim/simtest.protected.func1()\n\t/m/simtest/life.go:45 +0x99\n" +
			"panic({0xc000,0x1})\n\t/go/src/runtime/panic.go:792 +0x132\nexample.com/web.(*Controller).sync(0xc0000, {0x1, 0x2})\n\t/home/u/web/controller.go:57 +0x1c\n" +
			"example.com/web.(*Controller).Run(...)\n\t/home/u/web/controller.go:31\ngithub.com/informersim/informersim/simtest.(*world).startProcess.func1()\n" +
			"\t/m/simtest/world.go:255 +0x3\ncreated by github.com/x in goroutine 7\n\t/m/x.go:1 +0x2\n",
			"the process p panicked: assignment to entry in nil map\n  in example.com/web.(*Controller).sync (controller.go:57)\n  called by example.com/web.(*Controller).Run (controller.go:31)"},
		"without a stack": {"panic: no more", "panic: no more"},
		"cut off":         {"panic: x\n\ngoroutine 7 [running]:\nmain.f(0xc000", "panic: x\n  in main.f"},
		"no panic":        {"a goroutine goes on\ngoroutine 7 [running]:\nmain.f()\n", ""},
		"nothing":         {"", ""},
	} {
		if got := reports.PanicOf(test.text); got != test.want {
			t.Errorf("%s: it is\n%s\nwant\n%s", name, got, test.want)
		}
	}
}

// The same of what this release of Go prints: a panic, one that is thrown again, and a fault of the processor.
func TestPanicOfAProgram(t *testing.T) {
	const program = `package main

import "os"

func f(m *struct{ n [9]int }) {
	defer func() {
		if v := recover(); v != nil && os.Args[1] == "again" {
			panic(v)
		}
	}()
	if os.Args[1] == "again" {
		panic("at the disco")
	}
}

func g(m *struct{ n [9]int }) int { return m.n[7] }

func main() {
	f(nil)
	g(nil)
}
`
	dir := t.TempDir()
	file, exe := filepath.Join(dir, "prog.go"), filepath.Join(dir, "prog")
	if err := os.WriteFile(file, []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-gcflags=-l", "-o", exe, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for how, want := range map[string][]string{ // order: each by itself
		"again":  {"panic: at the disco", "\n  in main.f (prog.go:12)\n  called by main.main (prog.go:19)"},
		"signal": {"panic: runtime error: invalid memory address or nil pointer dereference\n  in main.g (prog.go:16)\n  called by main.main (prog.go:20)"},
	} {
		out, err := exec.Command(exe, how).CombinedOutput()
		if err == nil {
			t.Fatalf("it does not panic:\n%s", out)
		}
		got := reports.PanicOf(string(out))
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("of\n%sthere is\n%s\nwant %q", out, got, w)
			}
		}
		if strings.Contains(got, "goroutine") || strings.Contains(got, "0x") || strings.Contains(got, dir) {
			t.Errorf("it has addresses or folders:\n%s", got)
		}
	}
}
