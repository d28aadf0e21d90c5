package reports_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/reports"
)

// The report of a Go test reads like that of a scenario.
func TestText(t *testing.T) {
	r := reports.Run{Scenario: "TestX", Subject: "simtest", Strategy: "random", Seed: 7, Mix: "storm", Steps: 3, Virtual: 1500 * time.Microsecond, Converging: time.Millisecond, Requests: 2, APIOnly: true}
	r.CountFault("watch-eof")
	r.CountFault("crash")
	r.CountFault("watch-eof")
	r.ShrunkFrom = "9 steps, 4 faults"
	const headline = "scenario TestX · subject simtest · strategy random · seed 7 · fault mix storm\n"
	const counts = "\n      3 steps · 2ms of virtual time, 1ms of it to converge · 3 faults injected (crash ×1, watch-eof ×2)\n" +
		"      shrunk from 9 steps, 4 faults\n      0 writes, 2 requests, 0 watch frames\n      hash 0000000000000000\n"
	broken, failed := r, r
	broken.Violation = &reports.Violation{Property: "P", Step: 2, Message: "one\ntwo\n", Because: []reports.Evidence{{Step: 1, Text: "a"}, {Step: 2, Text: "b"}}}
	failed.Failure = "the body failed the test"
	for _, test := range []struct {
		report  reports.Report
		verdict string
		want    string
	}{
		{
			reports.Report{Run: &broken, Story: []reports.Line{{Step: 1, Actor: "x", Text: "y"}}, Replay: []string{"again"}}, "P",
			headline + "FAIL  P at step 2 (0s)\n\n  one\n  two\n  because step 1 (0s): a\n          step 2 (0s): b\n" +
				"\n  what happened\n    step 1            0s  x            y\n\n  see it again\n    again\n" + counts,
		},
		{reports.Report{Run: &failed}, "error", headline + "FAIL  the body failed the test\n" + counts},
	} {
		var b strings.Builder
		if err := reports.WriteText(&b, test.report); err != nil || b.String() != test.want {
			t.Errorf("%v\n%s\nwant\n%s", err, b.String(), test.want)
		}
		if test.report.Run.Passed() || test.report.Run.Verdict() != test.verdict {
			t.Errorf("verdict %s, want %s", test.report.Run.Verdict(), test.verdict)
		}
	}
}

// A summary survives a round trip, its violation complete.
func TestJSON(t *testing.T) {
	r := reports.Run{Scenario: "s", Hash: 255, Violation: &reports.Violation{Property: "P", Step: 2, At: time.Second, Key: "default/a", Message: "m", Because: []reports.Evidence{{Step: 1, At: 5, Text: "a"}}}}
	var b bytes.Buffer
	if err := reports.WriteJSON(&b, reports.Report{Run: &r}); err != nil {
		t.Fatal(err)
	}
	const want = `"violation":{"property":"P","step":2,"atNs":1000000000,"key":"default/a","message":"m","because":[{"step":1,"atNs":5,"text":"a"}]}`
	if !strings.Contains(b.String(), want) || strings.Count(b.String(), "\n") != 1 {
		t.Errorf("%s lacks %s", &b, want)
	}
	var s reports.Summary
	if err := json.Unmarshal(b.Bytes(), &s); err != nil || s.Verdict != "P" || s.Passed || s.Hash != "00000000000000ff" || s.Violation.Error() != r.Violation.Error() {
		t.Errorf("%v: %+v", err, s)
	}
}
