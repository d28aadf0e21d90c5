package simtest

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/informersim/informersim/internal/blackbox"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// logBook is what the run's programs logged with klog, each line with the step and the virtual time: client-go's warnings and errors, and
// the controller's own lines. It is no part of the trace, and so of no hash: log lines may have addresses and real times, and the order
// of those of two goroutines means nothing.
type logBook struct {
	step atomic.Uint64 // the one that is in progress, or is next
	echo bool          // to stderr, too
	tail *blackbox.Tail

	mu    sync.Mutex
	lines []logLine
	lost  int // older ones that were forgotten
	over  bool
}

// logLine is what was logged at once. It may have several lines: a panic's have a stack.
type logLine struct {
	step uint64
	at   time.Duration
	text string
}

// The most lines that are kept for the file, and shown.
const (
	keptLog  = 20_000
	shownLog = 12
)

func newLogBook(box *blackbox.Box) *logBook {
	b := &logBook{echo: wantsEcho()}
	b.step.Store(1)
	if box != nil {
		b.tail = box.Log()
	}
	return b
}

// wantsEcho reports whether the program was told to log to stderr, by the one of klog's flags that is off by default. The others
// decide what is logged: -v and -vmodule are obeyed, because klog itself asks them.
func wantsEcho() bool {
	f := flag.Lookup("alsologtostderr")
	return f != nil && f.Value.String() == "true"
}

// takeOver makes klog and the error handlers of Kubernetes' libraries write here. The bubble's host restores both after the run.
func (b *logBook) takeOver() {
	// Any level: klog has asked its flags before it calls this logger.
	logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(b), textlogger.Verbosity(math.MaxInt32)))
	klog.SetLoggerWithOptions(logger, klog.WriteKlogBuffer(func(line []byte) { _, _ = b.Write(line) }))
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(ctx context.Context, err error, msg string, keysAndValues ...any) {
		klog.LoggerWithName(klog.FromContext(ctx).WithCallDepth(3), "UnhandledError").Error(err, msg, keysAndValues...)
	}}
}

// Write takes what was logged at once, with klog's header. Any goroutine may call it.
func (b *logBook) Write(text []byte) (int, error) {
	at := time.Since(sim.Epoch)
	if at > 100*365*24*time.Hour {
		return len(text), nil
	}
	line := logLine{b.step.Load(), at, withoutHeader(strings.TrimRight(string(text), "\n"))}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return len(text), nil
	}
	if len(b.lines) == keptLog {
		b.lost += keptLog / 2
		b.lines = append(b.lines[:0], b.lines[keptLog/2:]...)
	}
	b.lines = append(b.lines, line)
	b.tail.Add(line.String() + "\n")
	if b.echo {
		fmt.Fprintln(os.Stderr, line)
	}
	return len(text), nil
}

// Record implements sim.Observer.
func (*logBook) Record(*sim.Record) {}

// StepEnd implements sim.Observer.
func (b *logBook) StepEnd(s *sim.StepInfo) { b.step.Store(s.Step + 1) }

// close ends the book: what is logged while the run is torn down is nobody's concern.
func (b *logBook) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
}

// String renders the line as a story's lines are.
func (l logLine) String() string {
	return fmt.Sprintf("step %-5d %9s  %s", l.step, l.at.Round(time.Millisecond), l.text)
}

// withoutHeader shortens klog's header, "I0102 03:04:05.000000   12345 file.go:12] ", to what means something in a run: the
// severity and the place.
func withoutHeader(text string) string {
	head, message, ok := strings.Cut(text, "] ")
	fields := strings.Fields(head)
	if !ok || len(fields) != 4 || !strings.ContainsRune("IWEF", rune(head[0])) {
		return text
	}
	return head[:1] + " " + fields[3] + "] " + message
}

// text returns the whole log, "" if there is none.
func (b *logBook) text() string {
	if b == nil {
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var s strings.Builder
	if b.lost > 0 {
		fmt.Fprintf(&s, "(%d older lines are not kept)\n", b.lost)
	}
	for _, l := range b.lines {
		s.WriteString(l.String() + "\n")
	}
	return s.String()
}

// section returns the last lines, for a report; with the name of the file that has all.
func (b *logBook) section(trace string) *reports.Section {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.lines) == 0 {
		return nil
	}
	s := &reports.Section{Title: "what it logged"}
	last := b.lines[max(0, len(b.lines)-shownLog):]
	if n := len(b.lines) + b.lost; n > len(last) {
		s.Title = fmt.Sprintf("what it logged (the last %d of %d lines)", len(last), n)
		if trace != "" {
			s.Title = fmt.Sprintf("what it logged (the last %d of %d lines in %s)", len(last), n, logFile(trace))
		}
	}
	for _, l := range last {
		s.Lines = append(s.Lines, shortened(l.String()))
	}
	return s
}

// The most that a report shows of what was logged at once.
const (
	maxLogText  = 600
	maxLogLines = 8
)

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
