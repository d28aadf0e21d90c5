package world

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/html"
)

// Where traces of failures are kept, relative to the test's folder.
const (
	traceFolder = "testdata/simtest"
	traceSuffix = ".trace.jsonl"
)

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_.]+`)

// traceName returns a test's name as used in file names.
func traceName(test string) string { return notInNames.ReplaceAllString(test, "_") }

// store writes the trace of a failure to a file and returns its name relative to the test's folder, "" if there is none.
func (r *runner) store(res *outcome) string {
	if r.task.Folder == "" || res.trace.Len() == 0 || res.unwinding() || res.err != nil && res.steps == 0 {
		return ""
	}
	name := r.traceFile(res.header.Seed)
	if err := r.host.Store(r.path(name), res.trace.Bytes()); err != nil {
		r.logf("the trace is not kept: %v", err)
		return ""
	}
	if text := res.log.text(); text != "" {
		if err := r.host.Store(r.path(logFile(name)), []byte(text)); err != nil {
			r.logf("the log is not kept: %v", err)
		}
	}
	if page := pageFile(name); r.storePage(r.path(page), res.trace.Bytes()) {
		res.page = page
	}
	return name
}

// storePage writes the report of a trace to a file, and reports whether it is there.
func (r *runner) storePage(file string, trace []byte) bool {
	var page bytes.Buffer
	err := html.Write(&page, "the run", bytes.NewReader(trace))
	if err == nil {
		err = r.host.Store(file, page.Bytes())
	}
	if err != nil {
		r.logf("no report is kept: %v", err)
	}
	return err == nil
}

// pageFile returns the name of the report that lies beside a trace.
func pageFile(trace string) string { return strings.TrimSuffix(trace, traceSuffix) + ".html" }

// traceFile returns the file in which the trace of a seed's failure is kept, relative to the test's folder.
func (r *runner) traceFile(seed uint64) string {
	return filepath.Join(traceFolder, fmt.Sprintf("%s-%d%s", traceName(r.task.Test), seed, traceSuffix))
}

// report makes a failure the job's result.
func (r *runner) report(res *outcome, file string) {
	r.result.Failure = r.text(res, file)
	r.result.Escaped = res.unwinding()
	r.note(res)
}

// unwinding reports whether the body ended with a panic by which another testing library unwinds, and which it must catch itself.
func (o *outcome) unwinding() bool {
	return o.escaped != nil && o.escaped.unwinds && o.violation == nil
}

// text returns the report of a failure.
func (r *runner) text(res *outcome, file string) string {
	report := reports.Report{Run: res.report(), Aftermath: res.aftermath(), Story: res.story(), Log: res.log.section(file), Page: res.page, Twin: res.twin}
	if file != "" {
		report.Replay = append(report.Replay, fmt.Sprintf("%s -simtest.replay=%s", r.task.Command, reports.ShellQuote(file)))
	}
	report.Replay = append(report.Replay, fmt.Sprintf("%s -simtest.seed=%d", r.task.Command, res.header.Seed))
	var b strings.Builder
	if err := reports.WriteText(&b, report); err != nil {
		return err.Error() // a Builder never fails
	}
	return strings.TrimRight(b.String(), "\n")
}
