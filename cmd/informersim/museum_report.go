package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/informersim/informersim/internal/museum"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/html"
)

// museumIndex is the page that leads to the reports of exhibits.
const museumIndex = "index.html"

// writeReports writes the reports of both runs of an exhibit, made from their traces.
func (f *museumFlags) writeReports(ctx context.Context, v *museum.Verdict) error {
	if f.report == "" {
		return nil
	}
	for suffix, side := range map[string]*museum.Side{"-broken": v.Broken, "-right": v.Right} { // order: each is a file of its own
		if side == nil {
			continue // no exhibit, or it was not played
		}
		trace, err := os.ReadFile(side.Trace)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && len(trace) == 0: // the run has died
		case err != nil:
			return fmt.Errorf("--report: %w", err)
		default:
			page, err := rendered(side.Trace, trace)
			if err != nil {
				return fmt.Errorf("--report: %w", err)
			}
			side.Report = filepath.Join(f.report, v.Bug+suffix+reportSuffix)
			if err := final(reportTarget("--report", side.Report, false)).Write(ctx, page); err != nil {
				return err
			}
		}
		if f.forget {
			side.Trace = ""
		}
	}
	return nil
}

// writeIndex writes the page that leads to the reports.
func (f *museumFlags) writeIndex(ctx context.Context, verdicts []*museum.Verdict) error {
	page := &html.Museum{Sentence: museum.Summarize(verdicts).String()}
	for _, v := range verdicts {
		bug, year, text := strings.Join(v.IDs, ", "), v.Years, museum.Plain(v.Text)
		if v.Open {
			year += ", open"
		}
		if v.Why != "" {
			page.Gaps = append(page.Gaps, html.Gap{Bug: bug, Year: year, Text: text, Why: museum.Plain(v.Why), Issue: v.Report})
			continue
		}
		page.Exhibits = append(page.Exhibits, html.Exhibit{
			Bug: bug, Year: year, Text: text, Where: v.Piece.Where(), Property: v.Property, Issue: v.Report, Command: v.Command, Problem: v.Problem,
			Broken: sideVerdict(v.Broken), Right: sideVerdict(v.Right),
		})
	}
	text, err := html.RenderMuseum(page)
	if err != nil {
		return err
	}
	return final(reportTarget("--report", filepath.Join(f.report, museumIndex), false)).Write(ctx, text)
}

// sideVerdict is what one run says, with its report, which lies beside the index.
func sideVerdict(side *museum.Side) html.Verdict {
	if side == nil {
		return html.Verdict{Text: "was not played"}
	}
	v := html.Verdict{Text: "passes, in " + reports.Counted(int(side.Steps), "step")}
	if x := side.Violation; x != nil {
		v.Text = fmt.Sprintf("breaks at step %d: %s", x.Step, x.Message)
	}
	if side.Report != "" {
		v.Link = filepath.Base(side.Report)
	}
	return v
}
