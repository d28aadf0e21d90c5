package suites

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Report is what the suites of a package have come to.
type Report struct {
	Specs     []Spec
	Took      time.Duration // by the test program, without building it
	Processor time.Duration // of its time and that of the control planes that it has stopped
}

// Spec is a spec of Ginkgo's, or a test of package testing that has no subtests. A node like BeforeSuite, or a test with subtests, is
// among them only if it failed by itself.
type Spec struct {
	Name  string
	State string // "passed", "pending", "skipped"; anything else is a failure
	Why   string // it failed, in a line
}

// failed reports whether a spec ended in any way but a good one: "failed", "panicked", "interrupted", "timedout", "aborted".
func (s Spec) failed() bool {
	return s.State != passed && s.State != "pending" && s.State != "skipped"
}

const passed = "passed"

// Failed returns what failed.
func (r Report) Failed() []Spec {
	var failed []Spec
	for _, s := range r.Specs {
		if s.failed() {
			failed = append(failed, s)
		}
	}
	return failed
}

// Only returns what failed here and not in another report of the same suites.
func (r Report) Only(other Report) []Spec {
	there := map[string]bool{}
	for _, s := range other.Failed() {
		there[s.Name] = true
	}
	return slices.DeleteFunc(r.Failed(), func(s Spec) bool { return there[s.Name] })
}

// Count counts specs.
type Count struct {
	Passed, Failed, Skipped int
	Took, Processor         time.Duration
}

func (c Count) String() string {
	return fmt.Sprintf("%4d passed, %d failed, %d skipped, %s, %s of processor time", c.Passed, c.Failed, c.Skipped,
		c.Took.Round(100*time.Millisecond), c.Processor.Round(100*time.Millisecond))
}

// Add adds another count.
func (c *Count) Add(o Count) {
	c.Passed, c.Failed, c.Skipped = c.Passed+o.Passed, c.Failed+o.Failed, c.Skipped+o.Skipped
	c.Took, c.Processor = c.Took+o.Took, c.Processor+o.Processor
}

// Count counts the specs of a report, and the other nodes that failed.
func (r Report) Count() Count {
	c := Count{Took: r.Took, Processor: r.Processor}
	for _, s := range r.Specs {
		switch {
		case s.failed():
			c.Failed++
		case s.State == passed:
			c.Passed++
		default: // pending, or skipped because another node failed
			c.Skipped++
		}
	}
	return c
}

// parseGinkgo reads what -ginkgo.json-report has written.
func parseGinkgo(data []byte) ([]Spec, error) {
	var reported []struct {
		SpecReports []struct {
			ContainerHierarchyTexts           []string
			LeafNodeType, LeafNodeText, State string
			Failure                           struct{ Message string }
		}
	}
	if err := json.Unmarshal(data, &reported); err != nil {
		return nil, err
	}
	var specs []Spec
	for _, suite := range reported {
		for _, r := range suite.SpecReports {
			leaf := strings.TrimSpace(r.LeafNodeType + " " + r.LeafNodeText)
			s := Spec{
				Name:  strings.Join(append(append([]string{}, r.ContainerHierarchyTexts...), leaf), " / "),
				State: r.State,
				Why:   line(r.Failure.Message),
			}
			if r.LeafNodeType == "It" || s.failed() {
				specs = append(specs, s)
			}
		}
	}
	return specs, nil
}

// event is a line of test2json's, as `go test -json` prints it.
type event struct{ Action, Test, Output string }

// parseEvents reads what test2json has written: the tests of package testing, and everything that was printed.
func parseEvents(stream []byte) (specs []Spec, printed []byte, err error) {
	state, said := map[string]string{}, map[string]string{}
	var order []string
	children, childFailed := map[string]bool{}, map[string]bool{}
	lines := json.NewDecoder(bytes.NewReader(stream))
	for {
		var e event
		if err := lines.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil, fmt.Errorf("the output is not what test2json writes: %w\n%s", err, tail(stream))
		}
		printed = append(printed, e.Output...)
		switch {
		case e.Test == "":
		case e.Action == "run":
			order = append(order, e.Test)
			state[e.Test] = "interrupted" // until it has ended
			for parent := e.Test; strings.Contains(parent, "/"); {
				parent = parent[:strings.LastIndex(parent, "/")]
				children[parent] = true
			}
		case e.Action == "output":
			if !strings.HasPrefix(strings.TrimSpace(e.Output), "---") && !strings.HasPrefix(e.Output, "===") {
				said[e.Test] += e.Output
			}
		case e.Action == "pass":
			state[e.Test] = passed
		case e.Action == "skip":
			state[e.Test] = "skipped"
		case e.Action == "fail":
			state[e.Test] = "failed"
			for parent := e.Test; strings.Contains(parent, "/"); {
				parent = parent[:strings.LastIndex(parent, "/")]
				childFailed[parent] = true
			}
		}
	}
	for _, name := range order {
		s := Spec{Name: name, State: state[name]}
		if s.failed() {
			why := said[name]
			if at := testLine.FindStringIndex(why); at != nil { // logs may come before it
				why = why[at[0]:]
			}
			s.Why = line(why)
		}
		if !children[name] || s.failed() && !childFailed[name] {
			specs = append(specs, s)
		}
	}
	return specs, printed, nil
}

// testLine is how package testing begins what a test says.
var testLine = regexp.MustCompile(`[\w-]+_test\.go:\d+:`)

// line makes one line of a message, as far as it fits.
func line(message string) string {
	why := strings.Join(strings.Fields(message), " ")
	if len(why) > 300 {
		why = why[:300] + "…"
	}
	return why
}
