package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/informersim/informersim/internal/outfile"
	"github.com/informersim/informersim/reports"
)

// pageTarget is the file of --report.
func (r *runner) pageTarget() outfile.Target {
	return reportTarget("--report", r.flags.report, r.flags.force, r.file, r.flags.mix, r.flags.trace)
}

// checkPage refuses a --report that cannot be written, before any run is made.
func (r *runner) checkPage() error {
	if r.flags.report == "" {
		return nil
	}
	target := r.pageTarget()
	if err := target.Check(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// page writes the report of a run to the file of --report, if there is one. Of a run that failed, an error is only a warning: the finding
// counts.
func (r *runner) page(report *reports.Report) error {
	if r.flags.report == "" {
		return nil
	}
	err := r.writePage(report.Run, report.Twin)
	switch {
	case err == nil:
		report.Page = r.flags.report
	case !report.Run.Passed():
		r.warn("no report is written: %v", err)
		return nil
	}
	return err
}

// writePage makes the run again to have its trace, and puts in the twin that it has. Of a run that hangs its process, which takes long and can be made only once
// there, the trace that was kept will do.
func (r *runner) writePage(run *reports.Run, t *reports.Twin) error {
	if crashed(run) {
		return errors.New("the run ends its process")
	}
	if run.Violation != nil && hangs(run.Violation) && r.traced != "" {
		kept, err := os.ReadFile(r.traced)
		if err == nil {
			kept, err = reports.WithTwin(kept, t)
		}
		if err != nil {
			return err
		}
		return r.storePage(kept)
	}
	var trace bytes.Buffer
	o := r.options(run.Seed)
	o.Trace = &trace
	again, err := r.play(r.c.Context(), o)
	if err != nil {
		return err
	}
	if again.Hash != run.Hash || again.Verdict() != run.Verdict() {
		return fmt.Errorf("not deterministic: seed %d did not repeat", run.Seed)
	}
	with, err := reports.WithTwin(trace.Bytes(), t)
	if err != nil {
		return err
	}
	return r.storePage(with)
}

// storePage writes the report of a trace to the file of --report.
func (r *runner) storePage(trace []byte) error {
	page, err := rendered("the run", trace)
	if err != nil {
		return err
	}
	target := r.pageTarget()
	return target.Write(context.WithoutCancel(r.c.Context()), page)
}
