package simtest

import (
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// Ginkgo keeps the first failure of a spec only, which is the assertion that ended the body, or one in a process: what Run reports after that would be lost. Nor does its
// GinkgoT() say that the spec has failed before the spec has ended. And its specs are no Go tests, so -run does not find them.

// ginkgoPath is what the import paths of Ginkgo's packages have in them, those of its second version, too.
const ginkgoPath = "github.com/onsi/ginkgo"

// fromGinkgo reports whether a value is of one of Ginkgo's types.
func fromGinkgo(v any) bool {
	t := reflect.TypeOf(v)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t != nil && strings.Contains(t.PkgPath(), ginkgoPath)
}

// assertionFailed reports whether what a goroutine panicked with is how Ginkgo's Fail ends a spec, as a failing assertion of Gomega's does, or its Skip. Which of them is
// noted, since nothing else tells it before the spec has ended. The panic has to be under way.
func (w *world) assertionFailed(v any) bool {
	switch {
	case !fromGinkgo(v):
		return false
	case ginkgoSkips():
		w.skips.Store(true)
	default:
		w.asserted.Store(true)
	}
	return true
}

// ginkgoSkips reports whether the panic under way is that of Ginkgo's Skip. Its value is the same as that of Fail, so the stack tells them apart.
func ginkgoSkips() bool {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, ginkgoPath) && strings.HasSuffix(f.Function, ".Skip") {
			return true
		}
		if !more {
			return false
		}
	}
}

// testFailed reports whether the test has failed, as far as can be known.
func (w *world) testFailed() bool { return w.asserted.Load() || w.r.t.Failed() }

// failSpec fails a spec. The whole text goes to its output, which Ginkgo shows of specs that fail, and its beginning with what repeats it is the message, if
// there has not been one before.
func failSpec(t TB, text string) {
	t.Helper()
	if short := shortened(text); short != text {
		t.Logf("%s", text)
		text = short + "\n\n  The whole report is in the output of the spec."
	}
	t.Errorf("%s", text)
	t.FailNow()
}

// watchSpec tells, when the spec has ended, of an assertion that may have failed in a run that found nothing: GinkgoRecover keeps the panic from Run, and nothing says that the
// spec has failed before its cleanup.
func (r *runner) watchSpec() {
	t, is := r.t.(interface{ Cleanup(func()) })
	if !is || !fromGinkgo(r.t) {
		return
	}
	line := r.line
	if flags.seed == 0 && flags.replay == "" {
		line += " -simtest.seed=1 (then 2, and so on)"
	}
	t.Cleanup(func() {
		if r.t.Failed() {
			r.t.Logf("simtest: Run had found nothing when it returned, and the spec has failed. If the assertion is in a goroutine of a run, GinkgoRecover has kept it from Run, which "+
				"could not say at which seed it failed: have the goroutine tell its process, and that return an error, or run the seeds one by one: %s", line)
		}
	})
}

// seeItAgain is the title of a report's section with the commands that repeat it.
const seeItAgain = "\n  see it again\n"

// shortened returns what comes before the first section of a report, and the commands that repeat it; all of what is no report.
func shortened(text string) string {
	_, again, is := strings.Cut(text, seeItAgain)
	if !is {
		return text
	}
	again, _, _ = strings.Cut(again, "\n\n")
	head, rest, _ := strings.Cut(text, "\n\n") // the circumstances and what broke
	if message, _, is := strings.Cut(rest, "\n\n"); is && startsReport(head) && !sectionTitle.MatchString(message) {
		head += "\n\n" + message
	}
	return head + "\n" + seeItAgain + again
}

// startsReport reports whether a text ends with what broke, as a report's first lines do.
func startsReport(head string) bool { return strings.Contains(head, "FAIL  ") }

// sectionTitle matches the beginning of a section: a title and indented lines.
var sectionTitle = regexp.MustCompile(`^  \S[^\n]*\n    \S`)

// specCommand returns the command that runs only one spec.
func specCommand(command, pkg, name string) string {
	return fmt.Sprintf("%s %s -ginkgo.focus=%s", command, shellQuote(pkg), shellQuote(regexp.QuoteMeta(name)+"$"))
}

// specArgs returns the arguments of a process that runs only one spec; nil if the test that runs the specs is not found.
func specArgs(args []string, words int, name string) []string {
	suite := suiteOf(allStacks())
	if suite == "" {
		return nil
	}
	flags := withoutSelection(args[:len(args)-words])
	return workerArgs(slices.Concat([]string{"-ginkgo.focus=" + regexp.QuoteMeta(name) + "$"}, flags, args[len(args)-words:]), words, testPattern(suite))
}

// withoutSelection leaves out of flags, and their values, those that are not for one spec.
func withoutSelection(flags []string) (kept []string) {
	for n := 0; n < len(flags); n++ {
		name, _, whole := strings.Cut(flags[n], "=")
		if !slices.Contains(notForOneSpec, strings.TrimLeft(name, "-")) {
			kept = append(kept, flags[n])
		} else if !whole {
			n++ // its value
		}
	}
	return kept
}

// notForOneSpec are Ginkgo's flags that say which specs are run, and what would be written by several processes.
var notForOneSpec = []string{
	"ginkgo.focus", "ginkgo.focus-file", "ginkgo.parallel.process", "ginkgo.parallel.total", "ginkgo.parallel.host",
	"ginkgo.json-report", "ginkgo.junit-report", "ginkgo.teamcity-report", "ginkgo.gojson-report",
}

// allStacks returns the stacks of all goroutines.
func allStacks() string {
	for size := 1 << 20; ; size *= 2 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size {
			return string(buf[:n])
		}
	}
}

// suiteCall matches the call of RunSpecs, and the function that calls it.
var suiteCall = regexp.MustCompile(`(?m)^` + ginkgoPath + `[^\n(]*\.RunSpecs\([^\n]*\n[^\n]*\n[^\n]*\.(Test[^\n(.]*)\(`)

// suiteOf returns the name of the test that runs Ginkgo's specs, which it waits for meanwhile; "" if it is not among the goroutines.
func suiteOf(stacks string) string {
	m := suiteCall.FindStringSubmatch(stacks)
	if m == nil {
		return ""
	}
	return m[1]
}
