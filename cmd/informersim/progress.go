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

func newProgress(w io.Writer, seeds seedRange) *progress {
	if plain, ok := w.(*reports.PlainWriter); ok {
		w = plain.Unwrap() // a bar moves the cursor, and says nothing that comes from a file
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return &progress{}
	}
	n := seeds.last - seeds.first
	if n >= math.MaxInt64 {
		n = math.MaxInt64 - 1
	}
	return &progress{bar: progressbar.NewOptions64(int64(n)+1,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("seeds"), progressbar.OptionShowCount(),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString("seeds"), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true))}
}

func (p *progress) done(sum *reports.Ensemble) {
	if p.bar == nil {
		return
	}
	p.bar.Describe(sum.Progress())
	_ = p.bar.Add(1) // a broken display is no reason to stop
}

func (p *progress) close() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}
