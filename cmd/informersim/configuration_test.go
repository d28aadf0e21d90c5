package main

import (
	"regexp"
	"strings"
	"testing"
)

// Every verdict names the configuration of its informers: that of a run, of its replay, of a range of seeds, and of a comparison.
func TestVerdictsNameConfigurations(t *testing.T) {
	t.Setenv(asCommand, "1") // for the children of a range
	inTemp(t, map[string]string{"small.sim": small, "pinned.sim": strings.Replace(small, "pods handlers", "pods queue=inorder watch-list=on page=0 resync=0s handlers", 1)})
	const drawn = `informer i1: queue=(delta|inorder|atomic) watch-list=(on|off) page=\d+ resync=[0-9.ms]+\n`
	for _, test := range []struct{ args, want string }{
		{"run small.sim", `(?m)^      informer i1: queue=delta watch-list=off page=0 resync=0s\n`},
		{"run small.sim --seed 7 --trace a.trace.jsonl", `(?m)^      ` + drawn},
		{"replay a.trace.jsonl", `(?m)^      ` + drawn},
		{"run small.sim --seed 7 --subject client-go", `(?m)^      ` + drawn},
		{"run pinned.sim --seed 7", `(?m)^      informer i1: queue=inorder watch-list=on page=0 resync=0s\n`},
		{"run small.sim --seed 1..40", `(?m)^      informers: queue delta ×\d+ inorder ×\d+ atomic ×\d+ · watch-list off ×\d+ on ×\d+ · page 0 ×\d+ .* · resync 0s ×\d+ .*\n`},
		{"run pinned.sim --seed 1..40", `(?m)^      informers: queue inorder ×40 · watch-list on ×40 · page 0 ×40 · resync 0s ×40\n`},
		{"diff small.sim --seeds 40", `(?m)^  informers: queue delta ×\d+ inorder ×\d+ atomic ×\d+ · watch-list off ×\d+ on ×\d+ · page 0 ×\d+ .* · resync 0s ×\d+ .*\n`},
		{"diff pinned.sim --seeds 3", `(?m)^  informers: queue inorder ×3 · watch-list on ×3 · page 0 ×3 · resync 0s ×3\n`},
	} {
		got := command(t, strings.Fields(test.args)...)
		if got.code != exitOK || !regexp.MustCompile(test.want).MatchString(got.stdout) {
			t.Errorf("%s: exit code %d, want a line like %s\n%s%s", test.args, got.code, test.want, got.stdout, got.stderr)
		}
	}
	line := regexp.MustCompile(drawn)
	run, replay := command(t, "run", "small.sim", "--seed", "7"), command(t, "replay", "a.trace.jsonl")
	if a, b := line.FindString(run.stdout), line.FindString(replay.stdout); a != b {
		t.Errorf("the run had %s, its replay has %s", a, b)
	}
	// The children of a range draw what single runs do.
	ranged := summaries(t, command(t, "run", "small.sim", "--seed", "1..8", "--subject", "client-go", "--json").stdout)
	for n, s := range summaries(t, command(t, "run", "small.sim", "--seed", "1..8", "--json").stdout) {
		if len(s.Informers) != 1 || n >= len(ranged) || len(ranged[n].Informers) != 1 || s.Informers[0] != ranged[n].Informers[0] {
			t.Errorf("seed %d: %v on the stack; of client-go there are %d runs", s.Seed, s.Informers, len(ranged))
		}
	}
}
