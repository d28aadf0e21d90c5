package reports_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// traced writes a trace of one step for each list of records, and returns a reader of it.
func traced(t *testing.T, steps ...[]sim.Record) *sim.TraceReader {
	t.Helper()
	var b strings.Builder
	h := sim.Header{Scenario: "s", Seed: 1}
	k := sim.NewKernel(sim.Options{Strategy: sim.NewFIFO(), Start: h.Digest()})
	w, err := sim.NewTraceWriter(k, &b, h)
	if err != nil {
		t.Fatal(err)
	}
	k.Observe(w)
	a := &teller{k: k, steps: steps}
	id := k.Register(a)
	for range steps {
		k.Offer(id, kindTell, 0)
		k.Step()
	}
	if err := w.Close("pass", nil); err != nil {
		t.Fatal(err)
	}
	r, err := sim.NewTraceReader("test", strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var kindTell = sim.RegisterKind("tell", sim.ClassAction)

type teller struct {
	k     *sim.Kernel
	steps [][]sim.Record
}

func (*teller) Name() string { return "conn/x" }

func (a *teller) Apply(sim.Choice) {
	for _, r := range a.steps[0] {
		e := a.k.Record(1, r.Kind)
		e.Key, e.RV, e.N, e.Detail, e.Note = r.Key, r.RV, r.N, r.Detail, r.Note
		a.k.Emit(e)
	}
	a.steps = a.steps[1:]
}

func record(kind, key string, rv, n int64, detail string) sim.Record {
	return sim.Record{Kind: sim.RegisterKind(kind, sim.ClassRecord), Key: key, RV: rv, N: n, Detail: detail}
}

func TestAftermath(t *testing.T) {
	steps := [][]sim.Record{
		{record("commit", "pods default/a", 1, 0, "ADDED"), record("commit", "pods default/ab", 2, 0, "ADDED")},
		{record("frame", "pods default/a", 1, 3, "ADDED"), record("commit", "pods default/a", 3, 0, "MODIFIED")},
		{record("request", "pods", 0, 4, "update default/a")},
		{record("response", "", 0, 4, "409 Conflict: no"), record("request", "pods", 0, 5, "update default/a")},
		{record("response", "", 0, 5, "409 Conflict: no"), record("request", "pods", 0, 6, "list x"), record("request", "pods", 0, 7, "list y")},
		{record("page", "", 0, 0, "request=6 404 NotFound: no"), record("page", "", 0, 1, "request=7"), record("fault", "conn/x", 0, 0, "watch-eof")},
		{record("request", "pods", 0, 9, "watch sendInitialEvents=true"), record("response", "", 0, 9, `422 Invalid: ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: `+
			"sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"), // each informer's, before it lists
			record("request", "pods", 0, 8, "create b")},
		{record("response", "", 0, 8, "201 Created"), record("commit", "jobs default/ab-x7", 4, 0, "ADDED")},
	}
	text := func(of reports.Involved, inForce ...string) string {
		sections, err := reports.Aftermath(traced(t, steps...), of, inForce)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, s := range sections {
			fmt.Fprintf(&b, "%s\n  %s\n", s.Title, strings.Join(s.Lines, "\n  "))
		}
		return b.String()
	}
	const failed = "requests that failed\n" +
		"  step 5            0s  conn/x       pods update default/a: 409 Conflict: no (×2, since step 4)\n" +
		"  step 6            0s  conn/x       pods list x: 404 NotFound: no\n"
	const a = "  pods default/a: MODIFIED by conn/x at step 2 (0s), rv=3; ADDED by conn/x at step 1 (0s)\nconn/x was sent ADDED at step 2 (0s) (rv=1)\n"
	const deeds = "what happened to pods default/a\n" +
		"  step 1            0s  conn/x       commits ADDED of pods default/a at rv=1\n" +
		"  step 2            0s  conn/x       watch 3 delivers ADDED of pods default/a at rv=1\n" +
		"  step 2            0s  conn/x       commits MODIFIED of pods default/a at rv=3\n" +
		"  step 3            0s  conn/x       request 4 of pods: update default/a\n" +
		"  step 4            0s  conn/x       response 4 409 Conflict: no\n" +
		"  step 4            0s  conn/x       request 5 of pods: update default/a\n" +
		"  step 5            0s  conn/x       response 5 409 Conflict: no\n"
	const job = "  jobs default/ab-x7: ADDED by conn/x at step 8 (0s), rv=4\n"
	const ab = "  pods default/ab: ADDED by conn/x at step 1 (0s), rv=2\n"
	const faults = "faults\n  step 6            0s  watch-eof hits conn/x\n"
	for _, test := range []struct {
		of      reports.Involved
		inForce []string
		want    string
	}{
		{reports.Involved{Message: "default/a is wrong"}, nil, faults + "  none is in force any more\nthe last of each object\n" + a + failed},
		{reports.Involved{Message: "ab, of all"}, []string{"watch-stall of x"}, faults + "  still in force: watch-stall of x\nthe last of each object\n" + job + ab + failed},
		{reports.Involved{Key: "pods default/ab", Message: "a"}, nil, faults + "  none is in force any more\nthe last of each object\n" + job + ab + failed},
		{reports.Involved{Message: "default/a is wrong", Told: 5}, nil, faults + "  none is in force any more\nthe last of each object\n" + a + deeds + failed},
		{reports.Involved{Message: "default/a is wrong", Told: 1}, nil, faults + "  none is in force any more\nthe last of each object\n" + a + failed},
		{reports.Involved{Message: "nothing", Told: 5}, nil, faults + "  none is in force any more\nthe last of each object\n" + job + a + ab + failed},
	} {
		if got := text(test.of, test.inForce...); got != test.want {
			t.Errorf("%+v: got\n%s\nwant\n%s", test.of, got, test.want)
		}
	}
}

// A list has what no watch told: that an object was made anew, or has gone. One from before the object, or before what a watch told later, says nothing.
func TestAftermathTellsOfLists(t *testing.T) {
	sections, err := reports.Aftermath(traced(t,
		[]sim.Record{record("request", "pods", 0, 1, `list rv="0"`), record("request", "pods", 0, 2, "get default/a")},
		[]sim.Record{record("page", "", 1, 0, "request=1"), record("commit", "pods default/a", 2, 0, "ADDED")},
		[]sim.Record{record("frame", "pods default/a", 2, 3, "ADDED"), record("commit", "pods default/b", 3, 0, "ADDED")},
		[]sim.Record{record("commit", "pods default/a", 4, 0, "DELETED"), record("commit", "pods default/a", 5, 0, "ADDED")},
		[]sim.Record{record("page", "", 5, 1, "request=2"), record("request", "pods", 0, 4, `list rv="2"`), record("request", "jobs", 0, 5, `list rv="0"`)},
		[]sim.Record{record("page", "", 5, 1, "request=4"), record("page", "", 5, 1, "request=5")},
		[]sim.Record{record("frame", "pods default/b", 3, 3, "ADDED")},
	), reports.Involved{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"pods default/a: ADDED by conn/x at step 4 (0s), rv=5\nconn/x was sent ADDED at step 3 (0s) (rv=2)\nconn/x listed pods at step 6 (0s), rv=5",
		"pods default/b: ADDED by conn/x at step 3 (0s), rv=3\nconn/x was sent ADDED at step 7 (0s)",
	}
	if len(sections) == 0 || !slices.Equal(sections[0].Lines, want) {
		t.Errorf("the sections are\n%q, want\n%q", sections, want)
	}
}

// What a request asks of a subresource is told apart from what it asks of the object, and is about the object all the same. A name that the server
// makes is none.
func TestAftermathTellsOfSubresources(t *testing.T) {
	asked := func(n int64, detail, note string) sim.Record {
		r := record("request", "pods", 0, n, detail)
		r.Note = note
		return r
	}
	sections, err := reports.Aftermath(traced(t,
		[]sim.Record{asked(1, "update default/a", ""), asked(2, "update default/a", "/status"), asked(3, "create default/a", "/eviction")},
		[]sim.Record{asked(4, "create default/", "a"), asked(5, "create default/", "a*"), asked(6, "get default/b", ""), record("commit", "pods default/a", 1, 0, "ADDED")},
		[]sim.Record{record("response", "", 0, 1, "409 Conflict: no"), record("response", "", 0, 2, "409 Conflict: no"), record("response", "", 0, 3, "429 TooManyRequests: no")},
		[]sim.Record{record("response", "", 0, 5, "500 InternalError: no")},
	), reports.Involved{Message: "default/a is wrong", Told: 99}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"pods create default/a*: 500 InternalError: no", "pods create default/a/eviction: 429 TooManyRequests: no",
		"pods update default/a/status: 409 Conflict: no", "pods update default/a: 409 Conflict: no",
	}
	var failed, told []string
	for _, s := range sections {
		for _, line := range s.Lines {
			text := strings.TrimSpace(line[strings.Index(line, "conn/x")+len("conn/x"):])
			switch {
			case s.Title == "requests that failed":
				failed = append(failed, text)
			case strings.HasPrefix(s.Title, "what happened") && strings.HasPrefix(text, "request"):
				told = append(told, text)
			}
		}
	}
	if slices.Sort(failed); !slices.Equal(failed, want) {
		t.Errorf("failed:\n%q, want\n%q", failed, want)
	}
	if want := []string{
		"request 1 of pods: update default/a", "request 2 of pods: update default/a/status", "request 3 of pods: create default/a/eviction",
		"request 4 of pods: create default/a",
	}; !slices.Equal(told, want) {
		t.Errorf("told of the object:\n%q, want\n%q", told, want)
	}
}

// Renewals of watches in a row are one line; what stands between them is told, and so is the only one.
func TestEndingFoldsRenewals(t *testing.T) {
	var steps [][]sim.Record
	renew := func(from, to int64) {
		for n := from; n < to; n++ {
			steps = append(steps, []sim.Record{record("watch-closed", "", 0, n, "timeout"), record("request", "pods", 0, n+1, `watch rv="1"`)},
				[]sim.Record{record("response", "", 0, n+1, "200 OK")}, []sim.Record{record("frame", "", 1, n+1, "BOOKMARK")})
		}
	}
	steps = append(steps, []sim.Record{record("request", "pods", 0, 1, `watch rv="" sendInitialEvents=true`)})
	renew(1, 30)
	steps = append(steps, []sim.Record{record("frame", "pods default/a", 2, 30, "ADDED")}, []sim.Record{record("watch-closed", "", 0, 30, "fault watch-eof")},
		[]sim.Record{record("request", "pods", 0, 31, `watch rv="2"`)})
	lines, err := reports.Ending(traced(t, steps...))
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	var got []string
	for _, l := range lines {
		got = append(got, fmt.Sprintf("%d %v %s", l.Step, l.At.Round(time.Second), l.Text))
	}
	want := []string{
		`1 0s request 1 of pods: watch rv="" sendInitialEvents=true`, "86 0s 29 × watch of pods renewed", "89 0s watch 30 delivers ADDED of pods default/a at rv=2",
		"90 0s watch 30 ends: fault watch-eof", `91 0s request 31 of pods: watch rv="2"`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// An apiserver that starts again does not fill an ending: the watch caches that it fills are one line until something else happens.
func TestEndingFoldsRestarts(t *testing.T) {
	var steps [][]sim.Record
	for range 40 {
		steps = append(steps, []sim.Record{record("apply", "", 7, 0, "INIT")})
	}
	steps = append(steps, []sim.Record{record("compacted", "", 7, 0, "")}, []sim.Record{record("apply", "", 8, 0, "INIT")}, []sim.Record{record("apply", "pods default/a", 9, 0, "ADDED")})
	lines, err := reports.Ending(traced(t, steps...))
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	var got []string
	for _, l := range lines {
		got = append(got, fmt.Sprintf("%d %s", l.Step, l.Text))
	}
	want := "1 fills 40 watch caches, the last at rv=7\n41 compacts to rv=7\n42 fills a watch cache at rv=8\n43 apply pods default/a rv=9 ADDED"
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// A leader election does not fill an ending: its requests that succeed are one line for each client. One that fails is told, and so is who
// else writes.
func TestEndingFoldsLeases(t *testing.T) {
	var steps [][]sim.Record
	election := func(from, to int64) {
		for n := from; n < to; n++ {
			steps = append(steps,
				[]sim.Record{record("request", "leases", 0, 2*n, "update default/x")}, []sim.Record{record("commit", "leases default/x", n, 0, "MODIFIED")},
				[]sim.Record{record("apply", "leases default/x", n, 0, "MODIFIED")}, []sim.Record{record("response", "", 0, 2*n, "200 OK")},
				[]sim.Record{record("request", "leases", 0, 2*n+1, "get default/x")}, []sim.Record{record("page", "", n, 1, fmt.Sprintf("request=%d", 2*n+1))})
		}
	}
	steps = append(steps, []sim.Record{record("commit", "leases default/x", 1, 0, "ADDED")})
	election(2, 20)
	steps = append(steps, []sim.Record{record("request", "pods", 0, 1000, "update default/a")}, []sim.Record{record("response", "", 0, 1000, "409 Conflict")})
	election(20, 40)
	steps = append(steps, []sim.Record{record("request", "leases", 0, 1001, "update default/x")}, []sim.Record{record("response", "", 0, 1001, "500 InternalError")})
	election(40, 60)
	lines, err := reports.Ending(traced(t, steps...))
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	var got []string
	for _, l := range lines {
		got = append(got, l.Text)
	}
	want := []string{
		"commits ADDED of leases default/x at rv=1", "18 × leases default/x renewed", "18 × leases default/x read", "request 1000 of pods: update default/a", "response 1000 409 Conflict",
		"20 × leases default/x renewed", "20 × leases default/x read", "response 1001 500 InternalError", "20 × leases default/x renewed", "20 × leases default/x read",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
