package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/informersim/informersim/conformance/probe"
)

// compare plays the probes on both sides and prints the differences.
func (s *settings) compare(ctx context.Context, probes []probe.Probe) error {
	began := time.Now()
	n := min(s.servers, max(len(probes), 1))
	targets, stop, err := s.targets(ctx, n)
	if err != nil {
		return err
	}
	defer stop()
	reference, stopReference, err := s.answers(ctx, probes, n)
	if err != nil {
		return err
	}
	defer stopReference()
	got := probe.RunAll(ctx, targets, probes, nil)
	want := reference()
	differing := 0
	for i := range probes {
		if s.show {
			fmt.Fprintf(s.out, "%s", want[i].Transcript.Encode())
		}
		text, err := verdict(want[i], got[i])
		if err != nil {
			return err
		}
		if text != "" {
			differing++
			fmt.Fprintf(s.out, "\n%s %s\n%s", probes[i].Name, strings.Join(probes[i].Cites, " "), text)
		}
	}
	fmt.Fprintf(s.out, "\n%d probes, %d differ (%.1fs)\n", len(probes), differing, time.Since(began).Seconds())
	if differing > 0 {
		return differ{differing}
	}
	return ctx.Err()
}

// verdict is the difference of two outcomes. The error tells of a reference that has no answer.
func verdict(want, got probe.Outcome) (string, error) {
	if want.Err != nil {
		return "", want.Err
	}
	if got.Err != nil {
		return fmt.Sprintf("could not be played: %v\n", got.Err), nil
	}
	return probe.Diff(want.Transcript, got.Transcript), nil
}

// answers begins to play the probes on the reference, or reads its recorded answers; the function waits for them.
func (s *settings) answers(ctx context.Context, probes []probe.Probe, n int) (func() []probe.Outcome, func(), error) {
	switch s.reference {
	case "golden":
		outcomes := make([]probe.Outcome, len(probes))
		for i, p := range probes {
			t, err := probe.ReadGolden(s.goldens, p.Name)
			outcomes[i] = probe.Outcome{Probe: p, Transcript: t, Err: err}
		}
		return func() []probe.Outcome { return outcomes }, func() {}, nil
	case "real":
		pool, stop, err := realTargets(ctx, n)
		if err != nil {
			return nil, nil, err
		}
		answered := make(chan []probe.Outcome, 1)
		go func() { answered <- probe.RunAll(ctx, pool, probes, nil) }()
		return func() []probe.Outcome { return <-answered }, stop, nil
	}
	return nil, nil, fmt.Errorf("--reference %q: want real or golden", s.reference)
}
