package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/informersim/informersim/conformance/sequence"
	"github.com/informersim/informersim/internal/probe"
)

// comparison is the state of a run: the servers of both sides and the findings.
type comparison struct {
	*settings
	targets, references []probe.Target
	// played, differing and unsteady count probes; an unsteady one differed, but not when repeated.
	played, differing, unsteady int
	// shorten is the number of differing sequences yet to be reduced; kinds counts them by their first difference.
	shorten int
	kinds   map[string]int
	// known are the accepted differences of built-in kinds, accepted counts those that were met.
	known    map[string]string
	accepted map[string]bool
}

// compare plays the probes and the generated sequences on both sides and prints the differences.
func (s *settings) compare(ctx context.Context, probes []probe.Probe) error {
	began := time.Now()
	n := max(min(s.servers, len(probes)+s.seeds), 1)
	c := &comparison{settings: s, shorten: shortened, kinds: map[string]int{}, accepted: map[string]bool{}}
	if s.kind == kindKube && s.target == "fake" && s.file == "" {
		var err error
		if c.known, err = readKnown(s.knownFile); err != nil {
			return err
		}
	}
	targets, stop, err := s.startTargets(ctx, n)
	if err != nil {
		return err
	}
	defer stop()
	c.targets = targets
	if s.reference == "real" {
		references, stop, err := s.realTargets(ctx, n)
		if err != nil {
			return err
		}
		defer stop()
		c.references = references
	}
	if err := c.catalogue(ctx, probes); err != nil {
		return err
	}
	if err := c.sequences(ctx); err != nil {
		return err
	}
	for _, name := range stale(c.known, probes, c.accepted) {
		fmt.Fprintf(s.out, "\n%s does not differ any more: take it out of %s\n", name, s.knownFile)
		c.differing++
	}
	if len(c.accepted) > 0 {
		fmt.Fprintf(s.out, "\n%d probes differ as %s says\n", len(c.accepted), s.knownFile)
	}
	fmt.Fprintf(s.out, "\nin %.1fs, %d unsteady (differed once, but not when repeated)\n%d probes, %d differ\n",
		time.Since(began).Seconds(), c.unsteady, c.played, c.differing)
	for _, target := range c.targets {
		if s.kind == kindKube {
			break // each probe of built-in kinds cleans up
		}
		if err := probe.Clean(ctx, target); err != nil {
			fmt.Fprintln(s.out, "the last probes' objects remain:", err)
		}
	}
	if c.differing > 0 {
		return differ{c.differing}
	}
	return ctx.Err()
}

// catalogue compares the given probes.
func (c *comparison) catalogue(ctx context.Context, probes []probe.Probe) error {
	want, got := c.both(ctx, probes)
	for i, p := range probes {
		if c.show {
			fmt.Fprintf(c.out, "%s", want[i].Transcript.Encode())
		}
		text, err := c.judge(ctx, p, want[i], got[i])
		if err != nil {
			return err
		}
		if text != "" {
			fmt.Fprintf(c.out, "\n%s %s\n%s", p.Name, strings.Join(p.Cites, " "), text)
		}
	}
	return ctx.Err()
}

// judge counts a probe and returns its difference. A difference must reproduce with nothing else running, to tell the
// effects of a loaded machine from those of the server.
func (c *comparison) judge(ctx context.Context, p probe.Probe, want, got probe.Outcome) (string, error) {
	text, err := verdict(want, got)
	if err != nil {
		return "", err
	}
	c.played++
	if text == "" {
		return "", ctx.Err()
	}
	again, err := c.again(ctx, p)
	if err != nil {
		return "", err
	}
	if again == "" {
		c.unsteady++
		fmt.Fprintf(c.out, "\n%s differed once, but not when repeated\n%s", p.Name, text)
		return "", nil
	}
	if c.known[p.Name] != "" {
		c.accepted[p.Name] = true
		return "", nil
	}
	c.differing++
	return again, nil
}

// again plays one probe on both sides and returns the difference. A recording does not change, so there it is played some times: a server that does
// not always answer the same, since it walks a map, may be right once by chance.
func (c *comparison) again(ctx context.Context, p probe.Probe) (text string, err error) {
	times := 1
	if c.references == nil {
		times = repeats
	}
	for i := 0; i < times && text == "" && err == nil && ctx.Err() == nil; i++ {
		want, got := c.both(ctx, []probe.Probe{p})
		text, err = verdict(want[0], got[0])
	}
	return text, err
}

// both plays probes on both sides concurrently.
func (c *comparison) both(ctx context.Context, probes []probe.Probe) (want, got []probe.Outcome) {
	if c.references == nil {
		return c.recorded(probes), probe.RunAll(ctx, c.targets, probes, nil)
	}
	answered := make(chan []probe.Outcome, 1)
	go func() { answered <- probe.RunAll(ctx, c.references, probes, nil) }()
	got = probe.RunAll(ctx, c.targets, probes, nil)
	return <-answered, got
}

// recorded returns the goldens of probes.
func (c *comparison) recorded(probes []probe.Probe) []probe.Outcome {
	outcomes := make([]probe.Outcome, len(probes))
	for i, p := range probes {
		t, err := probe.ReadGolden(c.goldens, p.Name)
		outcomes[i] = probe.Outcome{Probe: p, Transcript: t, Err: err}
	}
	return outcomes
}

const (
	// batch is the number of generated sequences held in memory, shortened the number of differing ones that are reduced,
	// and shrinkTries bounds the work on each.
	batch       = 64
	shortened   = 5
	shrinkTries = 100
	// kindLines is the number of changed lines that identify the kind of a difference.
	kindLines = 2
	// repeats is how often a probe that differed from its recording is played once more.
	repeats = 6
)

// sequences compares the generated sequences.
func (c *comparison) sequences(ctx context.Context) error {
	if c.seeds > 0 && c.references == nil {
		return fmt.Errorf("--seeds needs --reference real: generated sequences have no recorded answers")
	}
	for done := 0; done < c.seeds && ctx.Err() == nil; done += batch {
		var probes []probe.Probe
		for i := done; i < min(done+batch, c.seeds); i++ {
			p, err := c.generate(c.firstSeed + uint64(i))
			if err != nil {
				return err
			}
			probes = append(probes, p)
		}
		want, got := c.both(ctx, probes)
		for i, p := range probes {
			text, err := c.judge(ctx, p, want[i], got[i])
			if err != nil {
				return err
			}
			if text != "" {
				c.shrink(ctx, p, text)
			}
		}
	}
	return ctx.Err()
}

// generate returns the sequence of a seed.
func (c *comparison) generate(seed uint64) (probe.Probe, error) {
	if c.kind != kindKube {
		return sequence.Generate(seed, c.steps)
	}
	p, err := sequence.GenerateBuiltin(seed, c.steps)
	p.Builtin = true
	return p, err
}

// shrink prints the shortest script found that still differs, once for each kind of difference and for a limited number.
func (c *comparison) shrink(ctx context.Context, p probe.Probe, text string) {
	kind := kindOf(text)
	if c.kinds[kind]++; c.kinds[kind] > 1 {
		fmt.Fprintf(c.out, "\n%s differs in a way seen before: %s\n", p.Name, kind)
		return
	}
	if c.shorten == 0 {
		fmt.Fprintf(c.out, "\n%s (not shortened)\n%s", p.Name, text)
		return
	}
	c.shorten--
	short := sequence.Shrink(p, shrinkTries, func(p probe.Probe) bool {
		shorter, err := c.again(ctx, p)
		if err != nil || kindOf(shorter) != kind {
			return false
		}
		text = shorter
		return true
	})
	fmt.Fprintf(c.out, "\n%s\n%s", short, text)
}

var digits = regexp.MustCompile(`[0-9]+`)

// kindOf returns the first change of a difference without numbers: two sequences of one kind most likely show one defect.
func kindOf(text string) string {
	var changed []string
	verb := ""
	for _, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "step "):
			if verb != "" {
				return verb + " " + strings.Join(changed, " ")
			}
			_, do, _ := strings.Cut(line, ": ")
			if step, err := probe.ParseStep(do); err == nil {
				verb = step.Verb
			}
		case strings.HasPrefix(trimmed, "-") || strings.HasPrefix(trimmed, "+"):
			if len(changed) < kindLines {
				changed = append(changed, digits.ReplaceAllString(trimmed, "#"))
			}
		}
	}
	return verb + " " + strings.Join(changed, " ")
}

// verdict returns how two outcomes differ, apart from allowed differences. The error means that the reference has no answer.
func verdict(want, got probe.Outcome) (string, error) {
	if want.Err != nil {
		return "", want.Err
	}
	if got.Err != nil {
		return fmt.Sprintf("could not be played: %v\n", got.Err), nil
	}
	var b strings.Builder
	for _, d := range probe.Steps(want.Transcript, got.Transcript) {
		if reason := allowedBecause(want.Probe.Name, d.Do); reason == "" {
			fmt.Fprintf(&b, "step %d: %s\n%s", d.Number, d.Do, d.Changes)
		}
	}
	return b.String(), nil
}
