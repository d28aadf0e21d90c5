package world

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/world/wire"
)

// log is what the programs in the test's process logged during a run, each line with the step and the virtual time: client-go's warnings and
// errors, and the controller's own lines. It is no part of the trace, and so of no hash: log lines may have addresses and real times, and
// the order of those of two goroutines means nothing.
type log struct {
	lines []wire.LogLine
	lost  int // older ones that were forgotten
}

// readLog reads what the test's process sends of the log, nil if that is nothing.
func readLog(m *wire.Message) *log {
	if !m.More() {
		return nil
	}
	l := &log{lost: int(m.Num())}
	for m.More() {
		l.lines = append(l.lines, wire.LogLine{Step: uint64(m.Num()), At: m.Duration(), Text: m.Text()})
	}
	return l
}

// text returns the whole log, "" if there is none.
func (l *log) text() string {
	if l == nil {
		return ""
	}
	var s strings.Builder
	if l.lost > 0 {
		fmt.Fprintf(&s, "(%d older lines are not kept)\n", l.lost)
	}
	for _, line := range l.lines {
		s.WriteString(line.String() + "\n")
	}
	return s.String()
}

// shownLog is the most lines that a report shows.
const shownLog = 12

// section returns the last lines, for a report; with the name of the file that has all, if there is a trace.
func (l *log) section(trace string) *reports.Section {
	if l == nil || len(l.lines) == 0 {
		return nil
	}
	s := &reports.Section{Title: "what it logged"}
	last := l.lines[max(0, len(l.lines)-shownLog):]
	if n := len(l.lines) + l.lost; n > len(last) {
		s.Title = fmt.Sprintf("what it logged (the last %d of %d lines)", len(last), n)
		if trace != "" {
			s.Title = fmt.Sprintf("what it logged (the last %d of %d lines in %s)", len(last), n, logFile(trace))
		}
	}
	for _, line := range last {
		s.Lines = append(s.Lines, shortened(line.String()))
	}
	return s
}

// The most that a report shows of what was logged at once.
const (
	maxLogText  = 600
	maxLogLines = 8
)

// loggedAt is how what was logged at once begins in a log.
var loggedAt = regexp.MustCompile(`(?m)^step \d+ `)

// lastLogged returns what was logged last of a log as text, each shortened: of a panic's stack, what it begins with.
func lastLogged(log string) (last []string) {
	log = strings.TrimRight(log, "\n")
	begins := loggedAt.FindAllStringIndex(log, -1)
	if len(begins) == 0 {
		return []string{shortened(log)}
	}
	for n, at := range begins {
		end := len(log)
		if n+1 < len(begins) {
			end = begins[n+1][0]
		}
		last = append(last, shortened(strings.TrimRight(log[at[0]:end], "\n")))
	}
	return last[max(0, len(last)-shownLog):]
}

func shortened(text string) string {
	lines := strings.Split(text, "\n")
	if len(lines) > maxLogLines {
		lines = append(lines[:maxLogLines:maxLogLines], "…")
	}
	text = strings.Join(lines, "\n")
	if len(text) > maxLogText {
		text = strings.ToValidUTF8(text[:maxLogText], "") + "…"
	}
	return text
}

// logFile returns the name of the log beside a trace.
func logFile(trace string) string { return strings.TrimSuffix(trace, traceSuffix) + ".log" }
