package main

import (
	"io"
	"math"
	"os"
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
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return &progress{}
	}
	most := int64(-1) // of a bar that only turns
	if runs > 0 && runs < noEnd {
		most = int64(runs)
	}
	return &progress{bar: progressbar.NewOptions64(most,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("seeds"), progressbar.OptionShowCount(),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString("seeds"), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true))}
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
