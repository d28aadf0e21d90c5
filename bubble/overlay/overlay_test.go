package overlay

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// toolchain returns the one that these tests are run with.
func toolchain(t *testing.T) *Toolchain {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skipf("there is no go command: %v", err)
	}
	asked, err := Ask(t.Context(), tool, "", os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	overlaid, err := asked.Overlaid(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return overlaid
}

// Writing twice for the same toolchain gives the same files.
func TestWriteTwice(t *testing.T) {
	root, dir := toolchain(t).Root, t.TempDir()
	first, err := Write(root, dir)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Write(root, dir)
	if err != nil || second != first {
		t.Errorf("the second is %s, %v, the first %s", second, err, first)
	}
	if after, err := os.ReadDir(dir); err != nil || len(after) != len(before) || len(after) < 10 {
		t.Errorf("there are %d files, and were %d, %v", len(after), len(before), err)
	}
}

// A runtime with unexpected sources is refused, and the error names the place.
func TestOtherRuntimesAreRefused(t *testing.T) {
	root := toolchain(t).Root
	read := func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(root, "src", name)) }
	for name, test := range map[string]struct {
		read func(string) ([]byte, error)
		want []string
	}{
		"without a place": {func(name string) ([]byte, error) {
			data, err := read(name)
			return []byte(strings.ReplaceAll(string(data), "cheaprandn(uint32(norder + 1))", "other()")), err
		}, []string{"runtime/select.go: found 0 matches, want 1", "cheaprandn", Versions}},
		"with it twice": {func(name string) ([]byte, error) {
			data, err := read(name)
			return []byte(string(data) + "\nconst randomizeScheduler = raceenabled\n"), err
		}, []string{"runtime/proc.go: found 2 matches, want 1", "randomizeScheduler"}},
		"without sources": {func(string) ([]byte, error) { return nil, fs.ErrNotExist }, []string{"cannot read Go's sources"}},
	} {
		_, err := edited(test.read)
		if err == nil {
			t.Errorf("%s: it is accepted", name)
			continue
		}
		for _, w := range test.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: the error lacks %q: %v", name, w, err)
			}
		}
		if name == "without sources" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the cause is lost: %v", err)
		}
	}
}

// built returns a program that is built with flags.
func built(t *testing.T, tool *Toolchain, program string, flags ...string) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "program.exe")
	cmd := exec.Command(tool.Command, append(append([]string{"build"}, flags...), "-o", exe, program)...)
	cmd.Env = tool.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}

// overlaid builds a program with the overlay.
func overlaid(t *testing.T, program string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds the standard library")
	}
	tool := toolchain(t)
	name, err := Write(tool.Root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return built(t, tool, program, "-overlay", name)
}

// prints checks what a program prints.
func prints(t *testing.T, exe string, want []string) {
	t.Helper()
	if got := lines(t, exe); !slices.Equal(got, want) {
		t.Errorf("it prints\n%s\nand not\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// lines returns what a program prints.
func lines(t *testing.T, exe string, args ...string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, exe, args...).Output()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) < 4 {
		t.Fatalf("it prints %q, %v", out, err)
	}
	return lines
}

// With one seed, what Go leaves open is the same in two processes and twice in one of them; with another seed it differs. Without
// the overlay it differs every time, or this test would show nothing.
func TestSeedDecides(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the standard library")
	}
	tool := toolchain(t)
	name, err := Write(tool.Root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	build := func(flags ...string) string { return built(t, tool, "testdata/open/main.go", flags...) }
	run := func(exe string) []string { return lines(t, exe) }
	with, without := build("-overlay", name), build()
	first, second := run(with), run(with)
	if first[0] != first[1] || first[2] != first[3] {
		t.Errorf("a seed twice in one process:\n%s", strings.Join(first, "\n"))
	}
	if first[0] != second[0] || first[2] != second[2] {
		t.Errorf("two processes:\n%s\n%s", strings.Join(first, "\n"), strings.Join(second, "\n"))
	}
	if first[0] == first[2] {
		t.Errorf("two seeds are the same: %s", first[0])
	}
	if plain := run(without); plain[0] == plain[1] && plain[2] == plain[3] {
		t.Errorf("without the overlay, it is the same too: %s", plain[0])
	}
}

// The seed decides where goroutines give way, and which goes on: the same in two processes, twice in one of them, and after what a process does once.
// Other seeds have other orders, in which updates between two locks are lost, unlike where goroutines take turns. What else the seed draws is the
// same, and a bubble rests only when those that have given way are done.
func TestSeedInterleaves(t *testing.T) {
	exe := overlaid(t, "testdata/interleave/main.go")
	on, again, off := lines(t, exe), lines(t, exe), lines(t, exe, "off")
	if !slices.Equal(on, again) {
		t.Errorf("two processes:\n%s\n\n%s", strings.Join(on, "\n"), strings.Join(again, "\n"))
	}
	orders, losing := map[string]bool{}, 0
	for i := range on {
		if i%2 == 1 && on[i] != on[i-1] {
			t.Errorf("a seed twice in one process:\n%s\n%s", on[i-1], on[i])
		}
		with, without := strings.Fields(on[i]), strings.Fields(off[i]) // the seed, the order, what is lost, whether it rests, two draws
		if len(with) != 6 || len(without) != 6 {
			continue // such as PASS
		}
		orders[with[1]] = true
		if with[2] != "0" {
			losing++
		}
		if without[2] != "0" || without[1] != strings.Fields(off[0])[1] {
			t.Errorf("goroutines do not take turns: %s", off[i])
		}
		if with[3] != "true" || without[3] != "true" {
			t.Errorf("a bubble rests too early: %s, %s", on[i], off[i])
		}
		if !slices.Equal(with[4:], without[4:]) {
			t.Errorf("other draws differ: %s, %s", on[i], off[i])
		}
	}
	if len(orders) < 8 || losing < 20 {
		t.Errorf("20 seeds have %d orders, and %d of 40 runs lose an update:\n%s", len(orders), losing, strings.Join(on, "\n"))
	}
}

// However many goroutines can run at once, their order is the seed's, and does not depend on what runs outside of the bubble.
func TestCrowdsHaveOneOrder(t *testing.T) {
	exe := overlaid(t, "testdata/crowd/main.go")
	for _, args := range [][]string{nil, {"interleaved"}} {
		for _, line := range lines(t, exe, args...) {
			if f := strings.Fields(line); len(f) == 2 && f[1] != "1" {
				t.Errorf("%v: %s goroutines run in %s orders, in ten bubbles of one seed", args, f[0], f[1])
			}
		}
	}
}

// Goroutines that wait for a lock in a package variable are at rest if the lock is had inside their bubble, and only then.
func TestLocksOfPackages(t *testing.T) {
	prints(t, overlaid(t, "testdata/locks/main.go"), []string{
		"mutex: 0 after 2s, 1 after 3s",
		"tried mutex: 0 after 2s",
		"writer: 0 after 2s, 2 after 2s, 1 after 3s",
		"reader: 0 after 2s, 1 after 3s",
		"tried reader: 0 after 2s",
		"tried writer: 0 after 2s",
		"a mutex of others: false",
		"a writer of others: false false",
		"a reader of others: false",
		"PASS",
	})
}

// A goroutine that asks again and again for what another one of its bubble is about to do does not keep that one out.
func TestWhoeverSpinsGivesWay(t *testing.T) {
	prints(t, overlaid(t, "testdata/spin/main.go"), []string{"a channel that is closed: it has seen it", "a default: it has seen it", "a lock: it has seen it", "PASS"})
}

// When a bubble's next timer is due is known before time passes.
func TestNextTimer(t *testing.T) {
	prints(t, overlaid(t, "testdata/next/main.go"), []string{"outside: -1", "none at 0s: -1ns", "asleep at 0s: 3s", "awake at 3s: 2s", "1 fired at 5s: -1ns", "ticking at 5s: 1m0s", "ticked at 1m35s: 30s", "PASS"})
}
