package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/informersim/informersim/cmd/internal/campaign"
	"github.com/informersim/informersim/cmd/internal/junit"
	"github.com/informersim/informersim/internal/outfile"
	"github.com/informersim/informersim/reports"
)

// How often, in real time, a log and a bar say how far it is, and the state is written.
const (
	logEvery  = 10 * time.Second
	barEvery  = 100 * time.Millisecond
	saveEvery = 2 * time.Second
)

// fuzzProgress shows how far a campaign is, and has it saved from time to time.
type fuzzProgress struct {
	z              *fuzzer
	bar            *progress
	started        time.Time
	virtual        time.Duration // before this process
	took           time.Duration // before this process
	runs           uint64        // of this process
	logged, stored time.Time
}

func newFuzzProgress(z *fuzzer, left uint64) *fuzzProgress {
	now := time.Now()
	return &fuzzProgress{
		z: z, bar: newProgress(z.c.ErrOrStderr(), left), started: now, logged: now, stored: now, virtual: z.part().Virtual, took: z.part().Took,
	}
}

// done says that one more run is done.
func (p *fuzzProgress) done() {
	p.runs++
	now := time.Now()
	every := logEvery
	if p.bar.bar != nil {
		every = barEvery
	}
	sum := ""
	if now.Sub(p.logged) >= every {
		p.logged = now
		seconds := now.Sub(p.started).Seconds()
		sum = p.z.state.Progress((p.z.part().Virtual - p.virtual).Seconds() / seconds)
		if p.bar.bar == nil {
			fmt.Fprintf(p.z.c.ErrOrStderr(), "fuzz: %v: %d runs, %.0f runs/s, %s\n", now.Sub(p.started).Round(time.Second), p.z.part().Done, float64(p.runs)/seconds, sum)
		}
	}
	p.bar.done(sum)
}

// line prints a line beside the progress.
func (p *fuzzProgress) line(format string, args ...any) {
	p.bar.clear()
	fmt.Fprintf(p.z.c.ErrOrStderr(), format+"\n", args...)
}

// saved writes how far the campaign is to its folder, if it has one: now, or if some time has passed since the last time.
func (p *fuzzProgress) saved(now bool) error {
	part := p.z.part()
	part.Took = p.took + time.Since(p.started)
	if p.z.folder == nil || !now && time.Since(p.stored) < saveEvery {
		return nil
	}
	p.stored = time.Now()
	return p.z.folder.Save(context.WithoutCancel(p.z.c.Context()), p.z.state)
}

func (p *fuzzProgress) close() { p.bar.close() }

// report writes what was found, everywhere it is wanted. err is why the campaign could not go on, nil for none.
func (z *fuzzer) report(show *fuzzProgress, junit outfile.Target, err error) error {
	show.close()
	saved := show.saved(true)
	folder, further := z.flags.out, "go on: the same command with --resume"
	if saved != nil {
		further = reports.PlainLine(folder) + " lacks what could not be written: the same command with --resume goes on from what it has"
		folder = "" // its results are not these
	}
	unsaved := saved
	if saved != nil && err != nil && err.Error() == saved.Error() { // a disk that is full is so twice
		unsaved = nil
	}
	wrote := errors.Join(z.keeper.Recount(z.state), writeResults(z.c.Context(), z.state, junit), z.page())
	var printed error
	if z.flags.json {
		printed = z.state.WriteJSON(z.c.OutOrStdout())
	} else {
		printed = z.state.WriteText(z.c.OutOrStdout(), folder)
		writeUnjudged(z.c.OutOrStdout(), z.subject)
		if z.folder != nil && (saved != nil || z.part().Ended != campaign.Complete) {
			fmt.Fprintf(z.c.OutOrStdout(), "      %s\n", further)
		}
	}
	return outcomeOf(z.state, z.c.ErrOrStderr(), errors.Join(err, unsaved, wrote, printed))
}

// writeResults writes the JUnit report, if there is to be one, and the summary of a GitHub job.
func writeResults(ctx context.Context, c *campaign.Campaign, file outfile.Target) error {
	var err error
	if file.Path != "" {
		var b bytes.Buffer
		if err = c.WriteJUnit(&b); err == nil {
			err = file.Write(context.WithoutCancel(ctx), b.Bytes())
		}
	}
	return errors.Join(err, junit.AddStepSummary(c.WriteMarkdown))
}
