package simtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/internal/outfile"
	"github.com/informersim/informersim/reports"
)

// Where traces of failures are kept, relative to the package's folder, in which its tests run.
const (
	traceFolder = "testdata/simtest"
	traceSuffix = ".trace.jsonl"
)

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_.]+`)

// traceName returns a test's name as used in file names.
func traceName(test string) string { return notInNames.ReplaceAllString(test, "_") }

// isNil reports whether t is nil or an interface that holds a nil pointer.
func isNil(t TB) bool {
	if t == nil {
		return true
	}
	v := reflect.ValueOf(t)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// storesTraces reports whether traces are stored for this t. A property-based test runs the same name with varying inputs,
// which no trace holds; its t is recognised by having no TempDir.
func (r *runner) storesTraces() bool {
	_, is := r.t.(interface{ TempDir() string })
	return is
}

// traceFile returns the file in which the trace of a seed's failure is kept.
func (r *runner) traceFile(seed uint64) string {
	return filepath.Join(traceFolder, fmt.Sprintf("%s-%d%s", traceName(r.t.Name()), seed, traceSuffix))
}

// store writes the trace of a failure to a file and returns its name, "" if there is none.
func (r *runner) store(res *outcome) string {
	r.t.Helper()
	if !r.storesTraces() || res.trace.Len() == 0 || res.unwinding() {
		return ""
	}
	name := r.traceFile(res.header.Seed)
	if err := os.MkdirAll(traceFolder, 0o755); err != nil {
		r.t.Logf("simtest: the trace is not kept: %v", err)
		return ""
	}
	if err := (outfile.Target{Path: name, Mode: 0o644}).Write(context.Background(), res.trace.Bytes()); err != nil {
		r.t.Logf("simtest: the trace is not kept: %v", err)
		return ""
	}
	if log := res.log.text(); log != "" {
		if err := (outfile.Target{Path: logFile(name), Mode: 0o644}).Write(context.Background(), []byte(log)); err != nil {
			r.t.Logf("simtest: the log is not kept: %v", err)
		}
	}
	return name
}

// report fails the test with what broke and how to reproduce it.
func (r *runner) report(res *outcome, file string) {
	r.t.Helper()
	text := r.text(res, file)
	if e := res.escaped; res.unwinding() {
		r.t.Logf("%s", text)
		panic(e.value)
	}
	fatal(r.t, "%s", text)
}

// text returns the report of a failure.
func (r *runner) text(res *outcome, file string) string {
	report := reports.Report{Run: res.report(), Aftermath: res.aftermath(), Story: res.story(), Log: res.log.section(file)}
	if file != "" {
		report.Replay = append(report.Replay, fmt.Sprintf("%s -simtest.replay=%s", r.line, reports.ShellQuote(file)))
	}
	report.Replay = append(report.Replay, fmt.Sprintf("%s -simtest.seed=%d", r.line, res.header.Seed))
	var b strings.Builder
	if err := reports.WriteText(&b, report); err != nil {
		return err.Error() // a Builder never fails
	}
	return strings.TrimRight(b.String(), "\n")
}

// unwinding reports whether the body ended with a panic by which another testing library unwinds, and which it must catch itself.
func (o *outcome) unwinding() bool {
	e := o.escaped
	return e != nil && !e.goexit && o.violation == nil && !plain(e.value)
}

// plain reports whether a panic is a program's own, as opposed to a testing library's way of ending a test.
func plain(v any) bool {
	switch v.(type) {
	case error, string, fmt.Stringer:
		return true
	}
	return false
}

// packageOf returns the import path of the body's package, "." if it is unknown.
func packageOf(body func(*Env)) string {
	f := runtime.FuncForPC(reflect.ValueOf(body).Pointer())
	if f == nil {
		return "."
	}
	name := f.Name()
	slash := strings.LastIndex(name, "/") + 1
	dot := strings.Index(name[slash:], ".")
	if dot <= 0 {
		return "."
	}
	path, err := url.PathUnescape(name[:slash+dot]) // the linker escapes dots in the last part
	if err != nil {
		return "."
	}
	return strings.TrimSuffix(path, "_test")
}

// commandLine returns the command that runs only this test.
func commandLine(t TB, pkg string) string {
	parts := strings.Split(t.Name(), "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	command := "go test"
	if bubble.Seeded() {
		command = overlayHint
	}
	return fmt.Sprintf("%s %s -run %s", command, reports.ShellQuote(pkg), reports.ShellQuote(strings.Join(parts, "/")))
}
