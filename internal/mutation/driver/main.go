package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/internal/mutation"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/generate"
	"github.com/informersim/informersim/scenarios/minimal"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/kinds"
)

func main() {
	subject := flag.String("subject", "", "the subject to explore")
	first := flag.Uint64("first", 1, "the first seed")
	runs := flag.Uint64("runs", 1, "how many seeds to run at most")
	shrink := flag.Int("shrink", 0, "how many runs may be made to shrink the one that broke a property")
	timeout := flag.Duration("timeout", time.Minute, "how long one run may take")
	interleave := flag.Bool("interleave", false, "interleave the subject's goroutines, for which the program needs the overlay of Go's runtime")
	scenario := flag.String("scenario", "", "play this scenario's transcript instead of a search")
	trace := flag.String("trace", "", "write the trace of that run to this file")
	only := flag.String("property", "", "check only this property in that run")
	exempt := flag.Bool("exempt", true, "except upstream's behaviour from what properties hold")
	flag.Parse()
	kind, err := kinds.Named(*subject)
	if err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(2)
	}
	d := driver{kind: kind, out: json.NewEncoder(os.Stdout), shrink: *shrink, timeout: *timeout, interleave: scenarios.InterleaveOff}
	if *interleave {
		d.interleave = scenarios.InterleaveOn
	}
	if *scenario != "" {
		err = d.play(*scenario, *trace, *only, *exempt)
	} else {
		err = d.search(*first, *runs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(2)
	}
}

type driver struct {
	kind    subjects.Kind
	out     *json.Encoder
	shrink  int
	timeout time.Duration
	// interleave is the same for all runs.
	interleave scenarios.Interleaving
}

// search runs the seeds until a property breaks.
func (d *driver) search(first, runs uint64) error {
	started := time.Now()
	for seed := first; seed < first+runs; seed++ {
		if err := d.out.Encode(mutation.Answer{Seed: seed}); err != nil { // now: the run may end the process
			return err
		}
		s, o, err := d.runOf(seed)
		if err != nil {
			return err
		}
		res, err := d.run(s, o)
		if err == nil && hangs(res) && bubble.Broken() == nil { // which is told after a moment: one that only looked like it, on a busy machine, does not do so again
			res, err = d.run(s, o)
		}
		switch {
		case err != nil:
			return d.out.Encode(mutation.Answer{Seed: seed, Error: err.Error()})
		case res.Violation != nil:
			f := mutation.Found{Seed: seed, Property: res.Violation.Property, Message: res.Violation.Message, Seconds: time.Since(started).Seconds()}
			if d.shrink > 0 {
				f.Shrunk = d.smallest(s, o)
			}
			return d.out.Encode(mutation.Answer{Seed: seed, Found: &f})
		}
	}
	return d.out.Encode(mutation.Answer{Done: true})
}

// run makes a run, within its time.
func (d *driver) run(s *scenarios.Scenario, o scenarios.Options) (*scenarios.Result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), d.timeout)
	defer cancel()
	return scenarios.Run(ctx, s, o)
}

func hangs(r *scenarios.Result) bool {
	return r.Violation != nil && r.Violation.Property == property.NoDeadlock
}

// runOf returns the run of a seed, the same as informersim fuzz makes of it.
func (d *driver) runOf(seed uint64) (*scenarios.Scenario, scenarios.Options, error) {
	r, err := generate.OfSeed(seed, nil)
	return r.Scenario, scenarios.Options{
		Subject: d.kind.OfMany(), Seed: seed, Strategy: r.Strategy, Mix: r.Mix, Properties: properties.All(), Interleave: d.interleave,
	}, err
}

// smallest makes the run again, with a trace, and shrinks it.
func (d *driver) smallest(s *scenarios.Scenario, o scenarios.Options) *mutation.Shrunk {
	small, err := d.minimal(s, o)
	if err != nil {
		return &mutation.Shrunk{Error: err.Error()}
	}
	shrunk := &mutation.Shrunk{Before: small.Before, After: small.After, Script: small.Scenario.Text()}
	if !small.Transcript() {
		shrunk.Picks = len(small.Options.Picks)
	}
	return shrunk
}

func (d *driver) minimal(s *scenarios.Scenario, o scenarios.Options) (*minimal.Result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*d.timeout)
	defer cancel()
	var trace bytes.Buffer
	o.Trace = &trace
	res, err := scenarios.Run(ctx, s, o)
	if err != nil {
		return nil, err
	}
	if res.Violation == nil {
		return nil, minimal.ErrNotRepeated
	}
	tr, err := sim.NewTraceReader("trace", &trace)
	if err != nil {
		return nil, err
	}
	sc, o, err := scenarios.OfTrace(tr.Header(), o)
	if err != nil {
		return nil, err
	}
	picks, err := sim.ReadPicks(tr)
	if err != nil {
		return nil, err
	}
	return minimal.Search(ctx, minimal.Found{Scenario: sc, Options: o, Picks: picks, Violation: res.Violation}, minimal.Budget{Tries: d.shrink})
}
