package world

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/world/wire"
)

// Two runs of a seed that differ are a failure, which says why they may and what to run.
func TestSeedsThatDoNotRepeat(t *testing.T) {
	const overlay = `informersim go test example.com/x -run '^TestX$' -simtest.verify -simtest.seed=1`
	for _, test := range []struct {
		name      string
		seeded    bool
		query     string
		watchList int
		want, not string
	}{
		{name: "without the overlay", query: "?watch=1", want: overlay, not: "streaming lists, whose"},
		{name: "streaming lists", query: "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", want: "This run has streaming lists, whose objects client-go takes in such an order."},
		{name: "a server without them", query: "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", watchList: -1, want: overlay, not: "streaming lists, whose"},
		{name: "with the overlay", seeded: true, want: "run it twice:  go test example.com/x -run", not: "informersim go"},
	} {
		f, _ := startServe(t, sameVersion)
		runs := 0
		f.next = func(do []action) []*wire.Packet {
			switch {
			case has(do, wire.DoBody) != nil:
				runs++
				return []*wire.Packet{
					(&wire.Packet{}).Byte(wire.EventRequest).Num(7).Text("me").Num(0).Num(0).Text("GET").Text("http://sim/api/v1/configmaps" + test.query).
						Header(http.Header{"Accept": {"application/json"}}).Bytes(nil),
					askFor(wire.AskAdvance, time.Duration(runs)*time.Second),
				}
			case has(do, wire.DoReply) != nil:
				return []*wire.Packet{returned()}
			}
			return nothing
		}
		task := newTask()
		task.Verify, task.Seeded = true, test.seeded
		task.Options.Mix, task.Options.WatchList = "none", test.watchList
		res := f.job(task)
		if runs != 2 || !strings.Contains(res.Failure, "simtest: seed 1 does not repeat: ") || !strings.Contains(res.Failure, test.want) || test.not != "" && strings.Contains(res.Failure, test.not) {
			t.Errorf("%s: after %d runs the result is %+v", test.name, runs, res)
		}
		if err := f.end(); err != nil {
			t.Error(err)
		}
	}
}

// A second run that breaks what the first did not is told and kept like any failure.
func TestFailureOfASecondRunIsKept(t *testing.T) {
	f, _ := startServe(t, sameVersion)
	runs := 0
	plain := script()
	f.next = func(do []action) []*wire.Packet {
		if has(do, wire.DoBody) != nil {
			runs++
			plain = script(askFor(wire.AskChecks, 0, "it holds"), askFor(wire.AskAdvance, time.Hour))
		}
		events := plain(do)
		if runs == 2 && has(do, wire.DoReply) != nil && has(do, wire.DoBody) == nil {
			events = append(events, (&wire.Packet{}).Byte(wire.EventViolated).Text("it holds").Text("it does not").Text("default/a").Num(1).Num(1).Duration(0).Text("the second run shows it"))
		}
		return events
	}
	task := newTask()
	task.Verify, task.Folder, task.Options.Mix = true, t.TempDir(), "none"
	res := f.job(task)
	file := filepath.Join("testdata", "simtest", "TestX-1.trace.jsonl")
	for _, want := range []string{"simtest: seed 1 does not repeat: it passed the first time", "FAIL  it holds at step", "the second run shows it", "-simtest.verify -simtest.seed=1", "-simtest.replay=" + file} {
		if !strings.Contains(res.Failure, want) {
			t.Errorf("the failure lacks %q:\n%s", want, res.Failure)
		}
	}
	if res.Property != "it holds" || res.File != file {
		t.Errorf("the result is %+v", res)
	}
	if _, err := os.Stat(filepath.Join(task.Folder, file)); err != nil {
		t.Error(err)
	}
	if err := f.end(); err != nil {
		t.Error(err)
	}
}
