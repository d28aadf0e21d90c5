package world

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/html"
	"github.com/informersim/informersim/world/wire"
)

// Where traces of failures are kept, relative to the test's folder.
const (
	traceFolder = "testdata/simtest"
	traceSuffix = ".trace.jsonl"
)

var notInNames = regexp.MustCompile(`[^\p{L}\p{N}_.]+`)

// traceName returns the name of a trace's file, without its suffix, for a seed of a test's Run or Find. Only the first of these has no number in it: two that
// fail with one seed must not take each other's file, which may be kept for what it broke.
func traceName(test string, run int, seed uint64) string {
	test = notInNames.ReplaceAllString(test, "_")
	if run > 1 {
		return fmt.Sprintf("%s-run%d-%d", test, run, seed)
	}
	return fmt.Sprintf("%s-%d", test, seed)
}

// store writes the trace of a failure to a file, or, if it cannot, to a temporary one, and returns its name relative to the test's folder, "" if there
// is none.
func (r *runner) store(res *outcome) string {
	if r.task.Mode == wire.Find && r.task.Traces == "" {
		return ""
	}
	if res.skipped() { // nothing broke: a trace would have the test begin with a skip from now on
		return ""
	}
	if r.task.Folder == "" || res.trace.Len() == 0 || res.unwinding() || res.err != nil && res.steps == 0 {
		return ""
	}
	name, err := r.traceFile(res.header.Seed)
	if err == nil {
		err = r.host.Store(r.path(name), res.trace.Bytes())
	}
	if err != nil {
		if name = r.storeSpare(res, err); name == "" {
			return ""
		}
	} else {
		r.result.File = name
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

// storeSpare writes a trace that cannot be where it belongs to a temporary file, one for the whole job, and returns its name, "" if there is none.
func (r *runner) storeSpare(res *outcome, why error) string {
	r.result.Unkept = reports.Plain(why.Error())
	if r.spare != "" && r.host.Store(r.spare, res.trace.Bytes()) == nil {
		return r.spare
	}
	spare, err := r.host.Spare(traceSuffix, res.trace.Bytes())
	if err != nil {
		r.logf("the trace is not kept: %v; %v. With room for it, run the seed again", why, err)
		return ""
	}
	r.spare = spare
	r.logf("the trace is in a temporary file, %s: %v", spare, why)
	return spare
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

// traceFile returns the file in which the trace of a seed's failure is kept, relative to the test's folder. In a folder of the user's choice that is
// one of its own: it is created, so that tests of several processes do not take the same.
func (r *runner) traceFile(seed uint64) (string, error) {
	base := traceName(r.task.Test, r.task.Run, seed)
	if r.task.Traces == "" {
		return filepath.Join(traceFolder, base+traceSuffix), nil
	}
	for n := 1; r.placed == ""; n++ {
		name := filepath.Join(r.task.Traces, base+traceSuffix)
		if n > 1 {
			name = filepath.Join(r.task.Traces, fmt.Sprintf("%s-%d%s", base, n, traceSuffix))
		}
		if taken(r.path(pageFile(name))) || taken(r.path(logFile(name))) {
			continue
		}
		f, err := os.OpenFile(r.path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			return "", err
		}
		r.placed = name
	}
	return r.placed, nil
}

// taken reports whether there is something of that name.
func taken(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
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

// skipped reports whether all that happened is that the body skipped its test.
func (o *outcome) skipped() bool {
	return o.escaped != nil && o.escaped.skips && o.violation == nil && o.err == nil
}

// text returns the report of a failure.
func (r *runner) text(res *outcome, file string) string {
	story := res.story()
	report := reports.Report{Run: res.report(), Aftermath: res.aftermath(story), Story: story, Log: res.log.section(file), Page: res.page, Twin: res.twin}
	if file != "" {
		report.Replay = append(report.Replay, fmt.Sprintf("%s -simtest.replay=%s", r.task.Command, reports.ShellQuote(file)))
	}
	report.Replay = append(report.Replay, fmt.Sprintf("%s -simtest.seed=%d", r.task.Command, res.header.Seed))
	if res.fleeting {
		why := r.whyNotRepeated(res.header.Seed, res.streamed)
		report.Notes = strings.Split("This failure does not repeat: the same choices, made again, break nothing. "+why, "\n  ")
	}
	var b strings.Builder
	if err := reports.WriteText(&b, report); err != nil {
		return err.Error() // a Builder never fails
	}
	return strings.TrimRight(b.String(), "\n")
}
