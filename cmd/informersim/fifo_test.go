//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Ctrl-C ends the wait for a FIFO: for its other end to be opened, and for something to be written to it or read from it.
func TestInterruptEndsWaitsForFIFOs(t *testing.T) {
	trace := func(t *testing.T) string {
		inTemp(t, map[string]string{"small.sim": small})
		if out := command(t, "run", "small.sim", "--trace", "a.trace.jsonl"); out.code != exitOK {
			t.Fatal(out)
		}
		data, err := os.ReadFile("a.trace.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}(t)
	for _, tt := range []struct{ name, args, given string }{
		{"run", "run fifo", "resource pods\n"},
		{"replay", "replay fifo", trace[:len(trace)/2]},
		{"replay several", "replay fifo a.trace.jsonl", ""},
		{"import", "import fifo --from list -o x.sim", `{"kind":"List",`},
		{"diff", "diff fifo", "resource pods\n"},
		{"mix", "run --fault-mix ./fifo", "rates:"},
		{"trace", "run small.sim --seed 1 --trace fifo", ""},
		{"long trace", "run --seed 7 --fault-mix storm --trace fifo", "full"},
		{"rewritten", "import small.json --from list -o fifo", ""},
	} {
		for _, opened := range []bool{false, true} {
			name := tt.name
			if opened {
				name += ", opened by another"
			}
			t.Run(name, func(t *testing.T) {
				inTemp(t, map[string]string{"small.sim": small, "a.trace.jsonl": trace, "small.json": `{"kind":"List","apiVersion":"v1","items":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"b","uid":"u","resourceVersion":"5"}}]}`})
				if err := syscall.Mkfifo("fifo", 0o600); err != nil {
					t.Fatal(err)
				}
				if opened {
					if strings.HasSuffix(tt.args, "trace fifo") && tt.given == "" || strings.HasSuffix(tt.args, "-o fifo") {
						t.Skip("what is written fits into the FIFO")
					}
					other, err := os.OpenFile("fifo", os.O_RDWR, 0) // both ends, so that it need not wait
					if err != nil {
						t.Fatal(err)
					}
					defer other.Close()
					given := tt.given
					if given == "full" {
						given = strings.Repeat("x", 64<<10)
					}
					if _, err := other.WriteString(given); err != nil {
						t.Fatal(err)
					}
				}
				interruptWaiting(t, strings.Fields(tt.args)...)
			})
		}
	}
}

// interruptWaiting runs a command, and ends its context, as Ctrl-C does, once it waits.
func interruptWaiting(t *testing.T, args ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan outcome, 1)
	go func() { ended <- commandIn(ctx, args...) }()
	time.Sleep(100 * time.Millisecond) // an end before it waits is easier
	cancel()
	select {
	case out := <-ended:
		if out.code != exitInterrupted || !strings.Contains(out.stderr, "interrupted") {
			t.Errorf("exit code %d: %s", out.code, out.stderr)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("Ctrl-C does not end the wait")
	}
	if left, err := filepath.Glob(".informersim-*"); err != nil || len(left) > 0 {
		t.Errorf("%q are left, %v", left, err)
	}
}

// A run of client-go, which is made in a process of its own, says what one in this process does; and a scenario that comes from a pipe, which no
// other process can read again, is run in this one.
func TestScenarioFromAPipe(t *testing.T) {
	inTemp(t, map[string]string{"small.sim": small})
	if err := os.Mkdir("pipe", 0o777); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join("pipe", "small.sim") // of the same name, which is that of the scenario
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, seeds := range []string{"5", "5..7"} {
		args := []string{"--subject", "client-go", "--json", "--seed", seeds}
		if seeds == "5" {
			args = append(args, "-v", "--trace", "a b.jsonl")
		}
		want := command(t, append([]string{"run", "small.sim"}, args...)...)
		wantTrace, _ := os.ReadFile("a b.jsonl")
		go func() {
			if err := os.WriteFile(pipe, []byte(small), 0); err != nil {
				t.Error(err)
			}
		}()
		got := command(t, append([]string{"run", pipe}, args...)...)
		gotTrace, _ := os.ReadFile("a b.jsonl")
		inFile := func(text string) string { return strings.ReplaceAll(text, pipe, "small.sim") }
		if got.code != exitOK || inFile(got.stdout) != want.stdout || want.stdout == "" || got.stderr != want.stderr {
			t.Errorf("seed %s: exit code %d\n%s%swant\n%s%s", seeds, got.code, got.stdout, got.stderr, want.stdout, want.stderr)
		}
		if inFile(string(gotTrace)) != string(wantTrace) || seeds == "5" && !strings.Contains(string(wantTrace), `{"end":"pass"`) {
			t.Errorf("the traces differ")
		}
	}
}

// What makes its runs in several processes does not wait for a pipe that only one of them can read, such as standard input.
func TestPipeForSeveralProcesses(t *testing.T) {
	inTemp(t, map[string]string{"small.sim": small})
	if err := syscall.Mkfifo("fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"verify fifo", "verify small.sim --fault-mix ./fifo", "fuzz --subject client-go fifo"} {
		got := command(t, strings.Fields(args)...)
		if got.code != exitBadInput || !strings.Contains(got.stderr, "fifo: it is no regular file, and ") || !strings.Contains(got.stderr, "to a file first") {
			t.Errorf("%s: exit code %d: %s", args, got.code, got.stderr)
		}
	}
}

// The report of what comes through a pipe goes into the current folder: that of the pipe, such as /dev, is the system's.
func TestReportOfAPipe(t *testing.T) {
	inTemp(t, map[string]string{"small.sim": small})
	if err := os.Mkdir("dev", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo("dev/stdin", 0o600); err != nil {
		t.Fatal(err)
	}
	trace := traced(t)
	go func() { _ = os.WriteFile("dev/stdin", []byte(trace), 0) }()
	if got := command(t, "report", "dev/stdin"); got.code != exitOK || got.stdout != "stdin.html\n" {
		t.Errorf("exit code %d: %q, %s", got.code, got.stdout, got.stderr)
	}
	if _, err := os.Stat("dev/stdin.html"); err == nil {
		t.Error("the report is in the pipe's folder")
	}
}
