package reports_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

func step(actor, kind string, target, seq uint32, records ...sim.TraceRecord) *sim.TraceStep {
	return &sim.TraceStep{Step: 25, At: int64(2 * time.Second), Actor: actor, Kind: kind, Target: target, Seq: seq, Records: records}
}

// A difference is told in the words of the domain: what the script, the server, the queue, the handlers and the workers do.
func TestDiverge(t *testing.T) {
	commands := []string{"resource pods", "create pods default/a"}
	list := sim.TraceRecord{Kind: "page", Actor: "conn/i1", RV: 4, N: 2, Detail: "request=3"}
	replace := sim.TraceRecord{Kind: "replace", Actor: "i1", RV: 4, N: 2}
	tombstone := sim.TraceRecord{Kind: "tombstone", Actor: "i1", Key: "default/a"}
	watch := sim.TraceRecord{Kind: "request", Actor: "conn/i1", Key: "pods", N: 4, Detail: `watch rv="4"`}
	notify := func(rv, old int64) sim.TraceRecord {
		return sim.TraceRecord{Kind: "notify", Actor: "i1/h1", Key: "default/a", RV: rv, N: old, Detail: "update"}
	}
	respond := func(records ...sim.TraceRecord) *sim.TraceStep { return step("conn/i1", "respond", 3, 9, records...) }
	later := step("i1", "pop", 0, 2)
	later.At++
	for _, tt := range []struct {
		name       string
		trace, run *sim.TraceStep
		enabled    []sim.TraceStep
		want       string
	}{
		{"a record more", respond(list, replace, watch), respond(list, replace, tombstone, watch), nil,
			"here i1 queues a tombstone for default/a, which is not in the list; in the trace not"},
		{"records fewer", respond(list, replace, tombstone, tombstone, watch), respond(list, replace, watch), nil,
			"in the trace i1 queues a tombstone for default/a, which is not in the list (and 1 more); here not"},
		{"another notification", step("i1/h1", "handle", 0, 3, notify(7, 7)), step("i1/h1", "handle", 0, 3, notify(7, 1)), nil,
			"in the trace i1/h1 is notified: update default/a at rv=7 (before: rv=7); here i1/h1 is notified: update default/a at rv=7 (before: rv=1)"},
		{"a request instead", respond(watch), respond(list), nil,
			`in the trace conn/i1 sends request 4 for pods: watch rv="4"; here conn/i1 gets a list of 2 objects at rv=4 (request=3)`},
		{"what no text tells", respond(sim.TraceRecord{Kind: "synced", Actor: "i1"}), respond(sim.TraceRecord{Kind: "synced", Actor: "i1", RV: 1}), nil,
			"in the trace i1 has synced [synced n=0]; here i1 has synced [synced rv=1 n=0]"},
		{"a pop of nothing", step("i1", "pop", 0, 2), step("clock", "advance", 0, 1), []sim.TraceStep{*step("clock", "advance", 0, 1)},
			"in the trace i1 pops its queue; here that is not possible: the queue of i1 is empty"},
		{"another request's answer", respond(), step("i1", "wake", 0, 2), []sim.TraceStep{*step("conn/i1", "respond", 4, 9)},
			"in the trace the answer to request 3 reaches conn/i1; here that is not possible: the answer to request 4 reaches conn/i1 instead"},
		{"another offer", respond(), step("i1", "wake", 0, 2), []sim.TraceStep{*step("conn/i1", "respond", 3, 8)},
			"in the trace the answer to request 3 reaches conn/i1; here that is not possible: it is, but as offer 8 of conn/i1, in the trace as its offer 9: " +
				"something was offered or withdrawn before, of which there is no record"},
		{"a command", step("script", "command", 1, 2), step("i1", "wake", 0, 2), nil,
			`in the trace the script runs "create pods default/a"; here that is not possible: the script waits for its last command`},
		{"a fault", step("conn/i1", "no-such-fault", 0, 2), step("i1", "wake", 0, 2), nil,
			"in the trace conn/i1 does no-such-fault (target 0); here that is not possible: conn/i1 does not offer it"},
		{"the clock", step("i1", "pop", 0, 2), later, nil, "here it is 2.000000001s since the start, in the trace 2s: another timer was due"},
		{"the trace has ended", nil, step("script", "command", 2, 3), nil,
			"the trace ends before this step: its run broke X; here the run goes on: the script is over, and all faults end"},
		{"the run is over", step("w1/0", "take", 0, 3), nil, nil, "here the run is over before this step: it broke X; the trace goes on: w1/0 takes a key"},
	} {
		d := reports.Diverge(&sim.DivergedError{Step: 25, Why: "raw\ntext", Trace: tt.trace, Run: tt.run, Enabled: tt.enabled}, commands, "X")
		if d.Why != tt.want || d.Step != 25 || d.At != 2*time.Second || tt.run != later && slices.Equal(d.Trace, d.Run) {
			t.Errorf("%s: got  %s\nwant %s\n%+v", tt.name, d.Why, tt.want, d)
		}
		// The text shows both sides, and nothing on one of them that is on both.
		var b bytes.Buffer
		run := &reports.Run{}
		if err := reports.WriteText(&b, reports.Report{Run: run, Replayed: &reports.Replayed{Trace: "x", Divergence: d}}); err != nil {
			t.Fatal(err)
		}
		if goesOn := strings.Contains(b.String(), "the run goes on from seed 0.\n"); goesOn != (tt.run != nil) || strings.Contains(b.String(), "possible here: ") != (tt.enabled != nil) {
			t.Errorf("%s:\n%s", tt.name, b.String())
		}
		if tt.run != later && !strings.Contains(b.String(), "\n    trace   ") && !strings.Contains(b.String(), "\n    here    ") {
			t.Errorf("%s:\n%s", tt.name, b.String())
		}
	}
	// Without the steps there is still a reason, on one line.
	if d := reports.Diverge(&sim.DivergedError{Step: 3, Why: "raw\ntext"}, nil, ""); d.Why != "raw" || d.Step != 3 {
		t.Errorf("without steps: %+v", d)
	}
}

// Long steps are shortened around what differs.
func TestDivergeShowsPartOfAStep(t *testing.T) {
	var trace, run []sim.TraceRecord
	for i := range int64(30) {
		r := sim.TraceRecord{Kind: "indexer", Actor: "i1", Key: "default/a", RV: i + 1, Detail: "update"}
		trace = append(trace, r)
		if i >= 10 && i < 20 {
			r.RV += 100
		}
		run = append(run, r)
	}
	d := reports.Diverge(&sim.DivergedError{Step: 25, Trace: step("i1", "pop", 0, 1, trace...), Run: step("i1", "pop", 0, 1, run...)}, nil, "")
	var b bytes.Buffer
	if err := reports.WriteText(&b, reports.Report{Run: &reports.Run{}, Replayed: &reports.Replayed{Trace: "x", Divergence: d}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"    both    i1 pops its queue\n    both    (6 more)\n    both    the Indexer of i1 changes: update default/a at rv=7\n", "at rv=10\n    trace   the Indexer of i1 changes: update default/a at rv=11\n",
		"    trace   (and 2 more)\n    here    the Indexer of i1 changes: update default/a at rv=111\n", "    here    (and 2 more)\n    both    ", "at rv=28\n    both    (and 2 more)\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

func TestBuilds(t *testing.T) {
	of := func(program, commit, client string) map[string]string {
		return map[string]string{"informersim": program, "commit": commit, "client-go": client, "go": "go1"}
	}
	with := func(program, commit string) map[string]string { return of(program, commit, "v0") }
	for _, tt := range []struct {
		versions map[string]string
		want     string
		same     bool // a program of these versions is known to be the same
	}{
		{nil, "an unknown program: the trace does not name it", false},
		{with("devel", ""), "informersim devel, its commit is not known (go run and go test record none), client-go v0, go1", false},
		{with("devel", "0123456789abcdef"), "informersim devel, commit 0123456789ab, client-go v0, go1", true},
		{with("devel", "0123456789abcdef+dirty"), "informersim devel, commit 0123456789ab with local changes, client-go v0, go1", false},
		{with("v1.2.3", ""), "informersim v1.2.3, client-go v0, go1", true},
		{with("v1.2.4-0.2026-abc+dirty", ""), "informersim v1.2.4-0.2026-abc+dirty, client-go v0, go1", false},
		{of("v1.2.3", "", "v0.37.2 replaced by ../client-go"), "informersim v1.2.3, client-go v0.37.2 replaced by ../client-go, go1", false},
		{of("v1.2.3", "", "v0.37.2 replaced by my/fork v0.1.0-x"), "informersim v1.2.3, client-go v0.37.2 replaced by my/fork v0.1.0-x, go1", true},
		{of("devel", "abc", "v0.37.2 in a vendor folder"), "informersim devel, commit abc, client-go v0.37.2 in a vendor folder, go1", false},
		{of("devel", "abc", "(devel) in a go.work"), "informersim devel, commit abc, client-go (devel) in a go.work, go1", false},
		{with("v1\x1b\n", ""), `informersim v1\u001b\n, client-go v0, go1`, true},
	} {
		if got := reports.Build(tt.versions); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
		if got := reports.SameBuild(tt.versions, tt.versions); got != tt.same {
			t.Errorf("%v is the same build: %v", tt.versions, got)
		}
		if reports.SameBuild(tt.versions, with("v1.2.3", "x")) {
			t.Errorf("%v is another build than v1.2.3 of x", tt.versions)
		}
	}
}

// What broke in the trace's run is compared with what breaks now.
func TestFinding(t *testing.T) {
	breaks := func(name string) *reports.Run {
		return &reports.Run{Violation: &reports.Violation{Property: name, Step: 9}}
	}
	for _, tt := range []struct {
		verdict string
		run     *reports.Run
		want    string
	}{
		{"X", &reports.Run{}, "the trace's run broke X; this one passed"},
		{"X", breaks("X"), "the trace's run broke X, and this one breaks the same property, at step 9"},
		{"X", breaks("Y"), "the trace's run broke X; this one breaks another property, Y, at step 9"},
		{"X", &reports.Run{Mismatches: []reports.Mismatch{{}}}, "the trace's run broke X; this one did not match its transcript"},
		{"pass", breaks("Y"), "the trace's run passed; this one broke Y"},
		{"pass", &reports.Run{}, "the trace's run passed, and so did this one"},
		{"mismatch", &reports.Run{}, "the trace's run did not match its transcript; this one passed"},
		{"held", breaks("Y"), "the trace's run did not break what its scenario should break; this one broke Y"},
		{"interrupted", breaks("Y"), "how the trace's run would have ended is not known; this one broke Y"},
		{"", &reports.Run{}, "how the trace's run would have ended is not known; this one passed"},
		{"error", &reports.Run{Failure: "x"}, "the trace's run ended with an error, and so did this one"},
	} {
		if got := (&reports.Replayed{Verdict: tt.verdict}).Finding(tt.run); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}
