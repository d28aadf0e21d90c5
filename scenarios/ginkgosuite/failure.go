package ginkgosuite

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/onsi/ginkgo/v2"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
)

// The names of the report entries of a spec that failed.
const (
	TraceEntry  = "informersim trace" // the file
	ReplayEntry = "see it again"      // a command line
)

// failure makes the run again to have its trace, adds it to the spec's report, and returns the verdict.
func (o *Options) failure(ctx context.Context, s *scenarios.Scenario, run scenarios.Options, res *scenarios.Result) string {
	report := reports.Report{Run: &res.Run}
	var trace bytes.Buffer
	run.Trace = &trace
	again, err := scenarios.Run(ctx, s, run)
	file := filepath.Join(o.traces(), res.FileName()+".trace.jsonl")
	switch {
	case err != nil:
		report.Notes = append(report.Notes, fmt.Sprintf("there is no trace: made again, the run ended with %v", err))
	case again.Hash != res.Hash:
		report.Notes = append(report.Notes, "there is no trace: the run did not repeat")
	default:
		if err := write(file, trace.Bytes()); err != nil {
			report.Notes = append(report.Notes, fmt.Sprintf("there is no trace: %v", err))
			break
		}
		line := "informersim replay " + file
		report.Replay = []string{line, "informersim report " + file}
		ginkgo.AddReportEntry(TraceEntry, file, ginkgo.ReportEntryVisibilityFailureOrVerbose)
		ginkgo.AddReportEntry(ReplayEntry, line, ginkgo.ReportEntryVisibilityFailureOrVerbose)
	}
	var text strings.Builder
	if err := reports.WriteText(&text, report); err != nil {
		return err.Error()
	}
	return text.String()
}

func write(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o666)
}
