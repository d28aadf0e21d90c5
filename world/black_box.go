package world

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/world/wire"
)

// blackBox is the test's files for what has to outlive a process. Without them nothing fails; less is known of a process that dies.
type blackBox struct {
	trace *os.File // that of the run in progress grows here, for the test
	end   *os.File // the end of the log, for this side
	crash *os.File // what Go says of the panic that ends the test's process

	another *Another // whose files these are, nil if they are the test's
}

func openBox(g wire.Greeting) *blackBox {
	b := &blackBox{}
	if g.Trace != "" {
		b.trace, _ = os.OpenFile(g.Trace, os.O_RDWR, 0)
	}
	if g.Log != "" {
		b.end, _ = os.Open(g.Log)
	}
	if g.Crash != "" {
		b.crash, _ = os.Open(g.Crash)
	}
	return b
}

func (b *blackBox) close() {
	for _, f := range []*os.File{b.trace, b.end, b.crash} {
		if f != nil {
			f.Close()
		}
	}
}

// begin empties the file for another run, and returns where its trace is written to: there, and to memory.
func (b *blackBox) begin(memory io.Writer) io.Writer {
	if b.trace == nil || b.trace.Truncate(0) != nil {
		return memory
	}
	return &growing{memory: memory, file: b.trace}
}

// growing is where a trace is written to.
type growing struct {
	memory io.Writer
	file   *os.File
	size   int64
}

// Write implements io.Writer. A run does not fail because its record does.
func (g *growing) Write(lines []byte) (int, error) {
	if n, err := g.file.WriteAt(lines, g.size); err == nil {
		g.size += int64(n)
	}
	return g.memory.Write(lines)
}

// log returns the end of the log of the run in progress.
func (b *blackBox) log() []byte {
	if b.end == nil {
		return nil
	}
	data, err := io.ReadAll(io.NewSectionReader(b.end, 0, wire.LogTail))
	if err != nil {
		return nil
	}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		data = data[:i]
	}
	return data
}

// maxCrash bounds what is read of a crash: a fatal error's stacks may be those of thousands of goroutines.
const maxCrash = 64 << 10

// died returns the panic or the fatal error of which the test's process has died, "" if it was something else. Of another process it also tells how it
// has exited.
func (b *blackBox) died() string {
	crash := b.panicked()
	if b.another == nil {
		return crash
	}
	code, printed := b.another.End()
	if rest, is := strings.CutPrefix(crash, unknownFatal); is {
		if what := fatalError.FindString(printed); what != "" {
			crash = what + rest
		}
	}
	if crash != "" || code < 0 {
		return crash
	}
	crash = fmt.Sprintf("%s%d", reports.Exited, code)
	if last := lastPrinted(printed); last != "" {
		crash += ": " + last
	}
	return crash
}

// klogFatal is the head of klog's last line, which has the number of the process, and comes before the stacks of all goroutines.
var klogFatal = regexp.MustCompile(`(?m)^F\d{4} \S+ +\d+ (.+)$`)

// lastPrinted returns what a process has printed last: of klog.Fatal, why.
func lastPrinted(text string) string {
	if all := klogFatal.FindAllStringSubmatch(text, -1); len(all) > 0 {
		return all[len(all)-1][1]
	}
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// fatalError is the line in which Go's runtime says what is fatal.
var fatalError = regexp.MustCompile(`(?m)^fatal error: .+$`)

// panicked returns the panic or the fatal error that is in the file.
func (b *blackBox) panicked() string {
	if b.crash == nil {
		return ""
	}
	data, err := io.ReadAll(io.NewSectionReader(b.crash, 0, maxCrash))
	if err != nil {
		return ""
	}
	text := string(data)
	if strings.HasPrefix(strings.TrimLeft(text, "\n"), "goroutine ") { // the runtime writes the first line of a fatal error to stderr only
		text = unknownFatal + "\n" + text
	}
	return reports.PanicOf(text)
}

// canceledFromOutside reports whether the test's process has died of a fatal error as it ended a context: goroutines in a bubble have asked for its channel first, which then
// belongs to the bubble, and may not be closed by others.
func (b *blackBox) canceledFromOutside() bool {
	if b.crash == nil {
		return false
	}
	data, err := io.ReadAll(io.NewSectionReader(b.crash, 0, maxCrash))
	stack, _, _ := bytes.Cut(bytes.TrimLeft(data, "\n"), []byte("\n\n"))
	return err == nil && bytes.HasPrefix(stack, []byte("goroutine ")) && bytes.Contains(stack, []byte("\ncontext.(*cancelCtx).cancel("))
}

// mutated says what to do about it, if the test's process has died of client-go's mutation detector.
func (b *blackBox) mutated() string {
	if message, _, _ := strings.Cut(b.died(), "\n"); !mutatedCache.MatchString(message) {
		return ""
	}
	return "  an object in the cache of an informer was changed, and everybody who reads the cache sees that: change a copy (DeepCopy) of what a lister, a cache or a handler gives.\n" +
		"  What has changed is printed above (CACHE … ALTERED), within a second of virtual time; Options.MutationDetector says in which runs it is looked for\n"
}

// mutatedCache is the panic of each release of client-go.
var mutatedCache = regexp.MustCompile(`^panic: cache .+ modified$`)

// exited says of a process that has ended without a panic what may have ended it, which its own output need not tell.
func (b *blackBox) exited() string {
	if b.crash == nil || b.died() != "" {
		return ""
	}
	return "  it has not panicked: it called os.Exit, as log.Fatal and klog.Fatal do, or was killed; a panic in place of the exit would show the line\n"
}
