package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// dying is "kill N", "panic N" or "exit N": what a child process does when it is given seed N.
const dying = "INFORMERSIM_TEST_DYING"

func dieAtSeed() {
	how, fatal, _ := strings.Cut(os.Getenv(dying), " ")
	if how == "" || !slices.Contains(os.Args, "--child") {
		return
	}
	from := os.Stdin
	in, seeds, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	os.Stdin = in
	go func() {
		for lines := bufio.NewScanner(from); lines.Scan(); {
			if seed, _, _ := strings.Cut(lines.Text(), " "); seed == fatal {
				if how == "panic" {
					panic("a defect")
				}
				fmt.Fprintln(os.Stderr, "famous last words")
				if how == "exit" {
					os.Exit(255)
				}
				self, _ := os.FindProcess(os.Getpid())
				_ = self.Kill()
				select {}
			}
			fmt.Fprintln(seeds, lines.Text())
		}
		seeds.Close() // not deferred: a panic would close it, and the process might end well before it died of that
	}()
}

// A process that dies is named with its seed, its end and its last words. The other seeds have their verdicts.
func TestDeadWorkerIsNamed(t *testing.T) {
	inTemp(t, map[string]string{"small.sim": small})
	t.Setenv(asCommand, "1")
	args := []string{"run", "small.sim", "--subject", "client-go", "--seed", "1..12", "--fault-mix", "storm"}
	for how, want := range map[string][]string{
		"kill 7": {"error: seed 7: the process that ran it ended without an answer: signal: killed", "after seeds", "famous last words"},
		"kill 1": {"error: seed 1: the process that ran it ended without an answer: signal: killed"},
	} {
		t.Setenv(dying, how)
		out := command(t, append(args, "--json")...)
		seed := strings.Fields(how)[1]
		want = append(want, "alone: informersim run small.sim --seed "+seed+" --strategy random --fault-mix storm --subject client-go",
			"not decided: 1 seed has no verdict, because the processes that ran them died: "+seed)
		for _, w := range want {
			if !strings.Contains(out.stderr, w) {
				t.Errorf("%s: the error is %s, want %q in it", how, out.stderr, w)
			}
		}
		if n := strings.Count(out.stdout, "\n"); out.code != exitUndecided || n != 11 {
			t.Errorf("%s: exit code %d, %d verdicts, want 11", how, out.code, n)
		}
		if out := command(t, args...); out.code != exitUndecided || !strings.Contains(out.stdout, "11") {
			t.Errorf("%s: exit code %d: %s", how, out.code, out.stdout)
		}
	}
}

// A panic that nobody recovers is a finding of its seed, and so is a process that ends by itself.
func TestPanicOfAWorkerIsAFinding(t *testing.T) {
	inTemp(t, map[string]string{"small.sim": small})
	t.Setenv(asCommand, "1")
	for how, said := range map[string]string{"panic 7": "panic: a defect", "exit 7": "exit status 255\n  famous last words"} {
		t.Setenv(dying, how)
		got := command(t, "run", "small.sim", "--subject", "client-go", "--seed", "1..12", "--fault-mix", "storm")
		for _, want := range []string{"6 of 12 seeds passed before this one\n", "FAIL  NoPanic", said, "informersim run small.sim --seed 7 "} {
			if got.code != exitBroken || !strings.Contains(got.stdout, want) {
				t.Errorf("%s: exit code %d, want %q in\n%s%s", how, got.code, want, got.stdout, got.stderr)
			}
		}
	}
}

// The processes of a parent that is killed end, although they are in the middle of a run.
func TestChildrenOfAKilledParentEnd(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skipf("processes are found in /proc, which is not here: %v", err)
	}
	var long strings.Builder
	long.WriteString("resource pods\ninformer i1 pods handlers=h1\n")
	pods := 100_000
	if testing.Short() {
		pods = 20_000 // enough under the race detector, which takes as long for them
	}
	for i := range pods {
		fmt.Fprintf(&long, "create pods default/p%d\n", i)
	}
	inTemp(t, map[string]string{"long.sim": long.String()})
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"run", "long.sim", "--subject", "client-go", "--seed", "1..1000"},
		{"verify", "long.sim", "--seeds", "1000"},
	} {
		parent := exec.Command(os.Args[0], args...)
		parent.Env = append(os.Environ(), asCommand+"=1")
		if err := parent.Start(); err != nil {
			t.Fatal(err)
		}
		var children []string
		eventually(t, "a child process of "+args[0], func() bool {
			children = childrenOf(t, parent.Process.Pid)
			return len(children) > 0
		})
		t.Cleanup(func() { // what a failure leaves must not go on
			for _, pid := range children {
				if n, err := strconv.Atoi(pid); err == nil && strings.HasPrefix(cwdOf(pid), folder) {
					left, _ := os.FindProcess(n) // never fails on Unix
					_ = left.Kill()              // most likely it has ended
				}
			}
		})
		time.Sleep(time.Second) // most likely a run is on; if not, the test is easier to pass
		if err := parent.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = parent.Wait() // it was killed
		eventually(t, "the end of the child processes of "+args[0], func() bool {
			return !slices.ContainsFunc(children, func(pid string) bool { return parentOf(pid) != "" })
		})
	}
}

// eventually waits for something that another process does.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("there is no %s", what)
		}
	}
}

// parentOf returns the parent of a process that runs, "" if it does not.
func parentOf(pid string) string {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 2 || fields[0] == "Z" {
		return ""
	}
	return fields[1]
}

// cwdOf returns the working folder of a process, "" if it does not run.
func cwdOf(pid string) string {
	folder, _ := os.Readlink(filepath.Join("/proc", pid, "cwd"))
	return folder
}

func childrenOf(t *testing.T, pid int) (children []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if parentOf(e.Name()) == fmt.Sprint(pid) {
			children = append(children, e.Name())
		}
	}
	return children
}
