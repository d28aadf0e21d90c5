package main

import (
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/informersim/informersim/reports"
)

// progress is a progress bar if the output is a terminal, and nothing otherwise.
type progress struct{ bar *progressbar.ProgressBar }

// noEnd is the number of runs of a progress bar without an end.
const noEnd = math.MaxInt64

// newProgress returns the progress of that many runs; 0 is more than can be counted.
func newProgress(w io.Writer, runs uint64) *progress {
	if plain, ok := w.(*reports.PlainWriter); ok {
		w = plain.Unwrap() // a bar moves the cursor, and says nothing that comes from a file
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" { // which cannot go back in a line
		return &progress{}
	}
	most := int64(-1) // of a bar that only turns
	if runs > 0 && runs < noEnd {
		most = int64(runs)
	}
	return &progress{bar: progressbar.NewOptions64(most,
		progressbar.OptionSetWriter(&oneRow{f, func() int { return widthOf(f) }}), progressbar.OptionSetDescription("seeds"), progressbar.OptionShowCount(),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString("seeds"), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true))}
}

// oneRow writes a bar within one row of a terminal: a bar that goes on in a second one cannot be written over, and leaves a row behind each time.
type oneRow struct {
	w     io.Writer
	width func() int // 0 for unknown; it may change
}

// widthOf returns the columns of a terminal, 0 if they are not known.
func widthOf(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Write implements io.Writer.
func (o *oneRow) Write(text []byte) (int, error) {
	rows := strings.Split(string(text), "\r")
	if most := o.width() - 1; most > 0 { // a full row moves some cursors to the next one
		for n, row := range rows {
			if runes := []rune(row); len(runes) > most {
				rows[n] = string(runes[:most])
			}
		}
	}
	if _, err := io.WriteString(o.w, strings.Join(rows, "\r")); err != nil {
		return 0, err
	}
	return len(text), nil
}

// done says that one more run is done, and sums up all of them; "" for what it said before.
func (p *progress) done(sum string) {
	if p.bar == nil {
		return
	}
	if sum != "" {
		p.bar.Describe(sum)
	}
	_ = p.bar.Add(1) // a broken display is no reason to stop
}

// clear makes room for lines, which the bar follows.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

func (p *progress) close() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}
