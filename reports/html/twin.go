package html

import (
	"fmt"

	"github.com/informersim/informersim/reports"
)

// maxPartings is the most differences that are shown, and the most lines of one; a trace that this program wrote has fewer.
const maxPartings = 12

// twin is the nearest run that passes.
type twin struct {
	Sentence string
	About    string
	Rows     []parting
}

type parting struct{ Here, There []step }

func twinOf(w *reports.Twin) *twin {
	if w == nil {
		return nil
	}
	x := &twin{Sentence: w.Sentence()}
	if w.Found() {
		x.About = fmt.Sprintf("It has %s; %s with one thing changed %s tried.", reports.Counted(int(w.Steps), "step"), reports.Counted(w.Tried, "run"), was(w.Tried))
	}
	for _, p := range w.Partings[:min(len(w.Partings), maxPartings)] {
		x.Rows = append(x.Rows, parting{stepsOf(p.Here), stepsOf(p.There)})
	}
	return x
}

func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func stepsOf(all []reports.Line) (steps []step) {
	for _, l := range all[:min(len(all), maxPartings)] {
		steps = append(steps, step{l.Step, clock(l.At), l.Actor, l.Text})
	}
	return steps
}
