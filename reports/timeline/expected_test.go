package timeline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/terminal"
	"github.com/informersim/informersim/reports/timeline"
	"github.com/informersim/informersim/sim"
)

// A run that breaks what its scenario expects tells of it as one that fails does: what is missing, and how it came to that. A watch that its client
// cancels because of an ERROR event ends because of that event.
func TestExpectedViolation(t *testing.T) {
	var steps []sim.TraceStep
	step := func(actor string, records ...sim.TraceRecord) {
		steps = append(steps, sim.TraceStep{Step: uint64(len(steps) + 1), Actor: actor, Kind: "x", Records: records})
	}
	const informer, conn = "i1", "conn/i1"
	step("script", sim.TraceRecord{Kind: "commit", Actor: "cluster", Key: "pods default/a", RV: 1, Detail: "ADDED"})
	step(informer, sim.TraceRecord{Kind: "request", Actor: conn, Key: "pods", N: 1, Detail: `list rv="0"`})
	step(conn, sim.TraceRecord{Kind: "page", Actor: conn, RV: 1, N: 1, Detail: "request=1"}, sim.TraceRecord{Kind: "replace", Actor: informer, RV: 1, N: 1})
	step(informer, sim.TraceRecord{Kind: "indexer", Actor: informer, Key: "default/a", RV: 1, Detail: "add"})
	for n := int64(2); n < 6; n++ {
		step(informer, sim.TraceRecord{Kind: "request", Actor: conn, Key: "pods", N: n, Detail: `watch rv="1"`})
		step(conn, sim.TraceRecord{Kind: "response", Actor: conn, N: n, Detail: "200 OK"})
		if n == 2 {
			step("script", sim.TraceRecord{Kind: "commit", Actor: "cluster", Key: "pods default/a", RV: 2, Detail: "DELETED"})
		}
		step(conn, sim.TraceRecord{Kind: "frame", Actor: conn, N: n, Detail: "ERROR", Note: "410 Expired"}, sim.TraceRecord{Kind: "watch-closed", Actor: conn, N: n, Detail: "canceled by the client"})
	}
	c := reports.Conclusion{Violation: &reports.Violation{Property: "P", Key: "default/a", Step: uint64(len(steps)), Message: "i1 still holds default/a"}, Expected: "P"}
	about, err := c.JSON()
	if err != nil {
		t.Fatal(err)
	}
	tl, err := timeline.Of(sim.Header{Scenario: "s"}, steps, &sim.TraceEnd{Verdict: "P", Steps: uint64(len(steps)), About: about})
	if err != nil {
		t.Fatal(err)
	}
	if !tl.Passed() {
		t.Fatal("a violation that is expected is no failure")
	}
	var story []string
	for _, l := range tl.Story(tl.Object("default/a"), uint64(len(steps))) {
		story = append(story, fmt.Sprint(l.Step, " ", l.Actor, " ", l.Text))
	}
	for _, want := range []string{
		`8 conn/i1 4 × watch 2, opened from rv=1, ends: it brings an ERROR event: 410 Expired (the first; until step 17), never answered by a list`,
		"17 i1 Indexer never got it: what it has is rv=1",
	} {
		if !slices.Contains(story, want) {
			t.Errorf("the story lacks %q:\n%s", want, strings.Join(story, "\n"))
		}
	}
	if all := tl.Because(); len(all) == 0 || all[len(all)-1].Text != "the i1 Indexer never got it: what it has is rv=1" {
		t.Errorf("because %v", all)
	}
	if text := terminal.Explain(tl, nil); !strings.HasPrefix(text, "PASS  breaks P at step 17 (0s), as expected\n") {
		t.Errorf("explain prints\n%s", text)
	}
}

// An object that a client no longer selects is gone for it, and nobody behind it lacks the version.
func TestSelectorLeft(t *testing.T) {
	var steps []sim.TraceStep
	step := func(actor string, records ...sim.TraceRecord) {
		steps = append(steps, sim.TraceStep{Step: uint64(len(steps) + 1), Actor: actor, Kind: "x", Records: records})
	}
	const informer, conn = "i1", "conn/i1"
	step("script", sim.TraceRecord{Kind: "commit", Actor: "cluster", Key: "pods default/a", RV: 1, Detail: "ADDED"})
	step(informer, sim.TraceRecord{Kind: "request", Actor: conn, Key: "pods", N: 1, Detail: `list labels="app=x" rv="0"`})
	step(conn, sim.TraceRecord{Kind: "page", Actor: conn, RV: 1, N: 1, Detail: "request=1"}, sim.TraceRecord{Kind: "replace", Actor: informer, RV: 1, N: 1})
	step(informer, sim.TraceRecord{Kind: "indexer", Actor: informer, Key: "default/a", RV: 1, Detail: "add"})
	step(informer, sim.TraceRecord{Kind: "request", Actor: conn, Key: "pods", N: 2, Detail: `watch labels="app=x" rv="1"`})
	step(conn, sim.TraceRecord{Kind: "response", Actor: conn, N: 2, Detail: "200 OK"})
	step("script", sim.TraceRecord{Kind: "commit", Actor: "cluster", Key: "pods default/a", RV: 2, Detail: "MODIFIED"})
	step(conn, sim.TraceRecord{Kind: "frame", Actor: conn, N: 2, Key: "pods default/a", RV: 2, Detail: "DELETED"})
	step(informer, sim.TraceRecord{Kind: "indexer", Actor: informer, Key: "default/a", RV: 2, Detail: "delete"})
	tl, err := timeline.Of(sim.Header{Scenario: "s"}, steps, &sim.TraceEnd{Verdict: "P", Steps: uint64(len(steps))})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, l := range tl.Story(tl.Object("default/a"), uint64(len(steps))) {
		all = append(all, fmt.Sprint(l.Step, " ", l.Actor, " ", l.Text))
	}
	for _, e := range tl.Explain(tl.Object("default/a")) {
		all = append(all, fmt.Sprint(e.Step, " ", e.Text))
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{"8 conn/i1 is sent DELETED at rv=2, as it no longer selects it", "8 conn/i1 is sent DELETED, as it no longer selects it"} {
		if !slices.Contains(all, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "never") {
		t.Errorf("somebody lacks what he is not to have:\n%s", text)
	}
}
