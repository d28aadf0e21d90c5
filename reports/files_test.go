package reports_test

import (
	"testing"

	"github.com/informersim/informersim/reports"
)

// Runs of a scenario and a seed that are not the same run do not have the same file.
func TestFileNames(t *testing.T) {
	for want, run := range map[string]reports.Run{
		"gap-seed1":                     {Subject: "stack", Strategy: "fifo"},
		"gap-random-seed1":              {Subject: "stack", Strategy: "random"},
		"gap-storm-seed1":               {Subject: "stack", Strategy: "random", Mix: "storm"},
		"gap-storm-pct-seed1":           {Subject: "stack", Strategy: "pct", Mix: "storm"},
		"gap-client-go@v0.31-seed1":     {Subject: "client-go@v0.31", Strategy: "fifo"},
		"gap-client-go-all-a-b-c-seed1": {Subject: "client-go", Strategy: "random", Mix: "all a/b: c"},
	} {
		run.Scenario, run.Seed = "gap", 1
		if got := run.FileName(); got != want {
			t.Errorf("a run of %s, %s, %s has the file %s, want %s", run.Subject, run.Strategy, run.Mix, got, want)
		}
	}
	none, faultless := reports.Run{Strategy: "random", Mix: "none"}, reports.Run{Strategy: "random"}
	if none.FileName() != faultless.FileName() {
		t.Errorf("without faults, the file is %s or %s", none.FileName(), faultless.FileName())
	}
}
