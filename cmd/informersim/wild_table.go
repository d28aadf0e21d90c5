package main

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// wildResult is what a test of a released controller said.
type wildResult struct {
	seeds, faults  int      // 0 if it said none
	virtual, after string   // while there were faults, and after they had stopped
	known          string   // where it found the bug that it is about
	traces         []string // that it has kept
	failed         bool
	text           string // of a failure
}

var (
	// The line that a simtest.Run logs (simtest/summary.go). In the lines of go test it comes after the file's name.
	wildSummary = regexp.MustCompile(`: simtest: (\d+) seeds?, (?:no faults|(\d+) faults?\b.*?\)), (\S+) of virtual time(?: and (\S+) after the faults had stopped)?,? ?.*nothing found`)
	// What a test of a known bug logs: those under wild/ agree on these words.
	wildKnown = regexp.MustCompile(`: found with (seed \d+[^:\n]*)`)
	// Where the trace is of what simtest.Find has found (simtest/find.go), and the line that replays a failure's.
	wildTrace  = regexp.MustCompile(`: simtest: the finding's trace is in (.+)`)
	wildReplay = regexp.MustCompile(` -simtest\.replay=('.+'|\S+)$`)
)

// readWild reads what `go test -v` prints of one test.
func readWild(text string) *wildResult {
	r, failed := &wildResult{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if m := wildTrace.FindStringSubmatch(line); m != nil {
			r.traces = append(r.traces, m[1])
		}
		if m := wildReplay.FindStringSubmatch(line); m != nil {
			failed = strings.ReplaceAll(strings.Trim(m[1], "'"), `'\''`, "'") // as the shell reads it
		}
		switch {
		case strings.HasPrefix(line, "--- FAIL: ") || strings.HasPrefix(line, "panic: "):
			r.failed, r.text = true, text
		case strings.Contains(line, "simtest: before this failure"):
		default:
			if m := wildSummary.FindStringSubmatch(line); m != nil {
				r.seeds, _ = strconv.Atoi(m[1])
				r.faults, _ = strconv.Atoi(m[2])
				r.virtual, r.after = m[3], m[4]
			}
			if m := wildKnown.FindStringSubmatch(line); m != nil {
				r.known = m[1]
			}
		}
	}
	if r.failed && len(r.traces) == 0 && failed != "" {
		r.traces = append(r.traces, failed)
	}
	return r
}

// wildTable prints a line for each test.
type wildTable struct {
	out   io.Writer
	width int // of the names
}

const wildColumns = "%-*s  %7s  %9s  %12s  %8s  %s\n"

func (w *wildTable) head(tests []*wildTest) {
	const title = "controller and test"
	w.width = len(title)
	for _, t := range tests {
		w.width = max(w.width, len(t.String()))
	}
	fmt.Fprintf(w.out, wildColumns, w.width, title, "seeds", "virtual", "after faults", "faults", "found")
}

func (w *wildTable) row(t *wildTest, r *wildResult) error {
	seeds, virtual, after, faults, found := "", r.virtual, r.after, "", "nothing"
	if r.seeds > 0 {
		seeds, faults = strconv.Itoa(r.seeds), strconv.Itoa(r.faults)
	}
	switch {
	case r.failed:
		found = "SOMETHING NEW, or a known bug is gone:"
	case r.known != "":
		found = "a known bug, with " + r.known
	case r.seeds == 0:
		found = "as expected"
	}
	_, err := fmt.Fprintf(w.out, wildColumns, w.width, t, seeds, virtual, after, faults, found)
	for _, trace := range r.traces {
		if !filepath.IsAbs(trace) {
			trace = filepath.Join(t.dir, trace) // a failure's, without --traces
		}
		if err == nil {
			_, err = fmt.Fprintf(w.out, "  its trace is in %s\n", trace)
		}
	}
	if err == nil && r.failed {
		_, err = io.WriteString(w.out, r.text)
	}
	return err
}
