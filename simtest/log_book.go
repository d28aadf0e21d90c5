package simtest

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// logBook is what the run's programs logged with klog, each line with the step and the virtual time: client-go's warnings and errors, and
// the controller's own lines. It stays on this side until the run is over, and goes to the engine only if somebody wants to read it.
type logBook struct {
	start time.Time     // the bubble's
	step  atomic.Uint64 // the one that is in progress, or is next
	echo  bool          // to stderr, too
	tail  *logTail

	mu    sync.Mutex
	lines []wire.LogLine
	lost  int // older ones that were forgotten
	over  bool
}

// keptLog is the most lines that are kept.
const keptLog = 20_000

func newLogBook(tail *logTail) *logBook {
	tail.reset()
	return &logBook{tail: tail}
}

// klogFlags are klog's, bound to its state.
var klogFlags = sync.OnceValue(func() *flag.FlagSet {
	var f flag.FlagSet
	klog.InitFlags(&f)
	return &f
})

// logErrors is the handler of Kubernetes' libraries that logs an error, which is the first of those that they begin with; the others throttle, by
// real time. What its type is depends on the libraries' version.
var logErrors = utilruntime.ErrorHandlers[:min(1, len(utilruntime.ErrorHandlers)):1]

// takeOver makes klog and the error handlers of Kubernetes' libraries write here, in the caller's bubble. The bubble's host restores both
// after the run. Which lines are logged is decided by klog's flags, -v and -vmodule, as ever.
func (b *logBook) takeOver() {
	b.start = time.Now()
	flags := klogFlags()
	b.echo = flags.Lookup("alsologtostderr").Value.String() == "true"
	klog.ClearLogger()
	// As if it logged to files: then each line has a header, with its severity and its place, and gets to the file of "INFO" once.
	klog.SetOutput(io.Discard)
	klog.SetOutputBySeverity("INFO", b)
	for name, value := range map[string]string{"alsologtostderr": "false", "stderrthreshold": "FATAL", "one_output": "false"} { // order: they are independent
		if err := flags.Set(name, value); err != nil {
			panic(fmt.Sprintf("klog: -%s: %v", name, err)) // every version has these flags
		}
	}
	utilruntime.ErrorHandlers = logErrors
}

// outside is more than the virtual time that a run can take: goroutines outside of the bubble have another clock.
const outside = 20 * 365 * 24 * time.Hour

// Write takes what was logged at once, with klog's header. Any goroutine may call it.
func (b *logBook) Write(text []byte) (int, error) {
	at := time.Since(b.start)
	if at > outside || strings.HasPrefix(string(text[:min(len(text), 10)]), "goroutine ") { // a fatal error's stacks, which klog prints, too
		return len(text), nil
	}
	line := wire.LogLine{Step: b.step.Load(), At: at, Text: withoutHeader(strings.TrimRight(string(text), "\n"))}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over || announcesDetector(line.Text) {
		return len(text), nil
	}
	if len(b.lines) == keptLog {
		b.lost += keptLog / 2
		b.lines = append(b.lines[:0], b.lines[keptLog/2:]...)
	}
	b.lines = append(b.lines, line)
	b.tail.add(line.String() + "\n")
	if b.echo {
		fmt.Fprintln(os.Stderr, line)
	}
	return len(text), nil
}

// close ends the book: what is logged while the run is torn down is nobody's concern.
func (b *logBook) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
}

// tellErrors tells the engine what was logged as an error, by klog's severity, since a virtual time. What goroutines log whose process has crashed nobody would see in a cluster: they
// would be gone.
func (b *logBook) tellErrors(since time.Duration, event func(func(*wire.Packet))) {
	b.mu.Lock()
	var errs []wire.LogLine
	for _, l := range b.lines {
		if l.At >= since && strings.HasPrefix(l.Text, "E ") && !strings.Contains(l.Text, errCrashed.Error()) {
			errs = append(errs, l)
		}
	}
	b.mu.Unlock()
	event(func(p *wire.Packet) {
		p.Byte(wire.EventErrors).Num(int64(len(errs)))
		for _, l := range errs {
			p.Num(int64(l.Step)).Duration(l.At).Text(l.Text)
		}
	})
}

// packet returns the log as the engine reads it.
func (b *logBook) packet() *wire.Packet {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := (&wire.Packet{}).Num(int64(b.lost))
	for _, l := range b.lines {
		p.Num(int64(l.Step)).Duration(l.At).Text(l.Text)
	}
	return p
}

// text returns the log as it is kept in a file, "" if there is none.
func (b *logBook) text() string {
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
