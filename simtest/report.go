package simtest

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/reports"
)

// Where traces of failures are kept, relative to the package's folder, which is where its tests run.
const (
	traceFolder = "testdata/simtest"
	traceSuffix = ".trace.jsonl"
)

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_.]+`)

// traceName is a test's name as files have it.
func traceName(test string) string { return notInNames.ReplaceAllString(test, "_") }

// isNil finds a nil in an interface, too.
func isNil(t TB) bool {
	if t == nil {
		return true
	}
	v := reflect.ValueOf(t)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// keeps tells whether traces are kept for this t. A property-based test tries the same name with other inputs, which no
// trace has: such a t has no folder of its own to offer.
func (r *runner) keeps() bool {
	_, is := r.t.(interface{ TempDir() string })
	return is
}

// keep writes the trace of a failure to a file and returns its name, "" if there is none.
func (r *runner) keep(res *outcome) string {
	r.t.Helper()
	if !r.keeps() || res.trace.Len() == 0 || res.escaped != nil && res.violation == nil && !r.t.Failed() && !res.escaped.goexit {
		return ""
	}
	name := filepath.Join(traceFolder, fmt.Sprintf("%s-%d%s", traceName(r.t.Name()), res.header.Seed, traceSuffix))
	if err := os.MkdirAll(traceFolder, 0o755); err != nil {
		r.t.Logf("simtest: the trace is not kept: %v", err)
		return ""
	}
	if err := os.WriteFile(name, res.trace.Bytes(), 0o644); err != nil {
		r.t.Logf("simtest: the trace is not kept: %v", err)
		return ""
	}
	return name
}

// report fails the test with what was broken and how to see it again.
func (r *runner) report(res *outcome, file string) {
	r.t.Helper()
	text := r.text(res, file)
	if e := res.escaped; e != nil && !e.goexit && res.violation == nil && !plain(e.value) {
		// What other testing libraries unwind with is theirs to catch.
		r.t.Logf("%s", text)
		panic(e.value)
	}
	fatal(r.t, "%s", text)
}

// text is the report of a failure.
func (r *runner) text(res *outcome, file string) string {
	report := reports.Report{Run: res.told(), Story: res.story()}
	if file != "" {
		report.Replay = append(report.Replay, fmt.Sprintf("%s -simtest.replay=%s", r.line, file))
	}
	report.Replay = append(report.Replay, fmt.Sprintf("%s -simtest.seed=%d", r.line, res.header.Seed))
	var b strings.Builder
	if err := reports.WriteText(&b, report); err != nil {
		return err.Error() // a Builder has none
	}
	return strings.TrimRight(b.String(), "\n")
}

// plain tells whether a panic is a program's own, as opposed to a library's way to end a test.
func plain(v any) bool {
	switch v.(type) {
	case error, string, fmt.Stringer:
		return true
	}
	return false
}

// packageOf is the import path of the package that the body belongs to, "." if that cannot be told.
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
	return strings.TrimSuffix(name[:slash+dot], "_test")
}

// commandLine is the command that runs just this test.
func commandLine(t TB, pkg string) string {
	parts := strings.Split(t.Name(), "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	command := "go test"
	if bubble.Seeded() {
		command = overlayHint
	}
	return fmt.Sprintf("%s %s -run '%s'", command, pkg, strings.Join(parts, "/"))
}
