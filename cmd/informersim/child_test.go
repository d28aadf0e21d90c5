package main

import (
	"os"
	"strings"
	"testing"
)

// An ensemble of client-go, which is spread over processes, has the same results as its seeds one by one.
func TestEnsembleInProcesses(t *testing.T) {
	inTemp(t, map[string]string{"small.sim": small})
	one := func(seed string) string {
		out := command(t, "run", "small.sim", "--subject", "client-go", "--seed", seed, "--fault-mix", "storm", "--json")
		if out.code != exitOK {
			t.Fatalf("seed %s: exit code %d\n%s%s", seed, out.code, out.stdout, out.stderr)
		}
		return out.stdout
	}
	want := one("3") + one("4") + one("5") + one("6") + one("7")
	t.Setenv(asCommand, "1") // for the children
	out := command(t, "run", "small.sim", "--subject", "client-go", "--seed", "3..7", "--fault-mix", "storm", "--json", "--trace", "traces")
	if out.code != exitOK || out.stdout != want {
		t.Errorf("exit code %d\n%s%s\nwant\n%s", out.code, out.stdout, out.stderr, want)
	}
	files, err := os.ReadDir("traces")
	if err != nil || len(files) != 5 {
		t.Errorf("%d traces were written: %v", len(files), err)
	}
}

// A broken property in an ensemble over processes is reported like any other, with the command that replays it.
func TestEnsembleInProcessesReportsFailures(t *testing.T) {
	inTemp(t, map[string]string{"small.sim": "resource pods\nnonsense\n"})
	t.Setenv(asCommand, "1")
	if out := command(t, "run", "small.sim", "--subject", "client-go", "--seed", "1..4"); out.code != exitBadInput {
		t.Errorf("exit code %d: %s", out.code, out.stderr)
	}
	// A revision that is not in the future is found by the run, not by the parser.
	inTemp(t, map[string]string{"late.sim": "resource pods\ncreate pods default/a rv=9\ncreate pods default/b rv=3\n"})
	out := command(t, "run", "late.sim", "--subject", "client-go", "--seed", "1..4")
	if out.code != exitBadInput || !strings.Contains(out.stderr, "seed 1") || !strings.Contains(out.stderr, "late.sim:3") {
		t.Errorf("exit code %d: %s", out.code, out.stderr)
	}
}
