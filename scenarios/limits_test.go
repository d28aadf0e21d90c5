package scenarios_test

import (
	"strings"
	"testing"

	"github.com/informersim/informersim/scenarios"
)

// What cannot be meant is refused with its place and the nearest value that can.
func TestLimits(t *testing.T) {
	const before = "resource pods\ninformer i1 pods handlers=h1\nworker c1 i1\n"
	for line, want := range map[string]string{
		"cluster compact-every=1ns\n" + before:                      `x.sim:1:9: compact-every: "1ns" is out of range; use 0s for never, or 1s to 8760h`,
		"cluster history=10000001\n" + before:                       `x.sim:1:9: history: "10000001" is out of range; use 1 to 10000000`,
		"cluster revision=-1\n" + before:                            `x.sim:1:9: revision: "-1" is out of range; use 0 to 1152921504606846976`,
		"resource pods\ninformer i1 pods resync=1ns\n":              `x.sim:2:18: resync: "1ns" is out of range; use 0s for never, or 1s to 8760h`,
		"resource pods\ninformer i1 pods resync=1000000h\n":         `x.sim:2:18: resync: "1000000h" is out of range; use 0s for never, or 1s to 8760h`,
		"resource pods\ninformer i1 pods page=-1\n":                 `x.sim:2:18: page: "-1" is out of range; use 0 to 2147483648`,
		before + "handler i1 h2 resync=999ms\n":                     `x.sim:4:15: resync: "999ms" is out of range; use 0s for never, or 1s to 8760h`,
		before + "worker c2 i1 resync=1ms\n":                        `x.sim:4:14: resync: "1ms" is out of range; use 0s for never, or 1s to 8760h`,
		before + "worker c2 i1 base=1ns max=1s\n":                   `x.sim:4:14: base: "1ns" is out of range; use 1ms or more`,
		before + "worker c2 i1 base=0s max=1s\n":                    `x.sim:4:14: base: "0s" is out of range; use 1ms or more`,
		before + "worker c2 i1 base=1s max=1h\n":                    `x.sim:4:22: worker: max=1h is out of range; use a duration from base= to 16m40s`,
		before + "worker c2 i1 count=65\n":                          `x.sim:4:14: count: "65" is out of range; use 1 to 64`,
		before + "advance 1000000h\n":                               `x.sim:4:9: the duration: "1000000h" is out of range; use 8760h or less`,
		before + "advance -1s\n":                                    "x.sim:4:9: the argument: the duration -1s is negative; use 0s or more",
		before + "step 5 within=1000000h\n":                         `x.sim:4:8: within: "1000000h" is out of range; use 8760h or less`,
		before + "step 1000001\n":                                   `x.sim:4:6: the argument: "1000001" is out of range; use 1 to 1000000`,
		before + "expect i1 synced within=1000000h\n":               `x.sim:4:18: within: "1000000h" is out of range; use 8760h or less`,
		before + "fault i1 watch=410 count=1000001\n":               `x.sim:4:20: count: "1000001" is out of range; use 1 to 1000000`,
		before + "fault i1 list=429 retry-after=1h\n":               `x.sim:4:19: retry-after: "1h" is out of range; use 5m or less`,
		before + "fault i1 watch=stall for=1000000h\n":              `x.sim:4:22: for: "1000000h" is out of range; use -8760h to 8760h`,
		before + "fault i1 watch=eof {\"from\": \"1000000h\"}\n":    "x.sim:4:20: fault: from and until are out of range; use 8760h or less",
		before + "handle h1 takes=1h\n":                             `x.sim:4:11: takes: "1h" is out of range; use 5m or less`,
		before + "expect i1 converged diverged\n":                   "x.sim:4:1: expect: nothing is converged and diverged; leave one of them out",
		before + "reconcile c1 fails=1000001\n":                     "x.sim:4:14: fails=1000001 is not a rate; use a number, a probability like 0.1, always or never",
		"resource pods\nrestore rv=1 bump=1099511627777\n" + before: `x.sim:2:14: bump: "1099511627777" is out of range; use 0 to 1099511627776`,
	} {
		_, err := scenarios.Parse("x.sim", []byte(line))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", line, err, want)
		}
	}
	for _, line := range []string{"worker c2 i1 base=1ms max=1ms resync=1s", "handler i1 h2 resync=0s", "advance 8760h", "fault i1 list=429 retry-after=5m count=1000000"} {
		if _, err := scenarios.Parse("x.sim", []byte(before+line+"\n")); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
}
