package campaign

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
)

// Version is that of the format of campaign.json.
const Version = 1

// Asked is what decides the runs of a campaign.
type Asked struct {
	Subject string `json:"subject"`
	// First and Last are the seeds; Last is math.MaxUint64 for no end.
	First uint64 `json:"firstSeed"`
	Last  uint64 `json:"lastSeed"`
	// Shards is the number of parts that the seeds are split into: part n of it has every seed that is n-1 more than a multiple of it
	// after the first.
	Shards uint64 `json:"shards"`
	// Corpus are the scenarios that are played; none if they are generated.
	Corpus []File `json:"corpus,omitempty"`
	// Interleave says which runs interleave goroutines: on for all, off or "" for none, half for those whose seeds say so.
	Interleave string `json:"interleave,omitempty"`
	// Build is the program, by names of reports.VersionProgram and others: another one may make another run of a seed.
	Build map[string]string `json:"build"`
	// Program tells programs apart whose versions do not: those without one, and those with local changes. It is "" for others.
	Program string `json:"program,omitempty"`
}

// File is a scenario of a corpus.
type File struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
	// Unchecked counts what the script expects that its runs do not compare: states and outputs.
	Unchecked int `json:"unchecked,omitempty"`
}

// Endless reports that there is no last seed.
func (a *Asked) Endless() bool { return a.Last == math.MaxUint64 }

// Runs returns the number of runs of a shard, counted from 1. Without an end it is that of the seeds that there are.
func (a *Asked) Runs(shard uint64) uint64 {
	total := a.Last - a.First + 1
	if a.Endless() {
		total = a.Last - a.First // the last one is no seed: it stands for no end
	}
	if shard > total {
		return 0
	}
	return (total-shard)/a.Shards + 1
}

// Seed returns the seed of a shard's run, counted from 0.
func (a *Asked) Seed(shard, n uint64) uint64 { return a.First + shard - 1 + n*a.Shards }

// Run returns the number of a seed's run in its shard.
func (a *Asked) Run(seed uint64) uint64 { return (seed - a.First) / a.Shards }

// Seeds says the seeds in words.
func (a *Asked) Seeds() string {
	if a.Endless() {
		return fmt.Sprintf("%d..", a.First)
	}
	return fmt.Sprintf("%d..%d", a.First, a.Last)
}

// differs returns what two campaigns were asked differently, "" for nothing.
func (a *Asked) differs(b *Asked) string {
	switch {
	case a.Subject != b.Subject:
		return fmt.Sprintf("--subject %s, not %s", a.Subject, b.Subject)
	case a.Interleave != b.Interleave:
		return fmt.Sprintf("goroutines interleaved: %s, not %s", cmp.Or(a.Interleave, "off"), cmp.Or(b.Interleave, "off"))
	case a.First != b.First || a.Last != b.Last:
		return fmt.Sprintf("--seeds %s, not %s", a.Seeds(), b.Seeds())
	case a.Shards != b.Shards:
		return fmt.Sprintf("shards of %d, not of %d", a.Shards, b.Shards)
	case len(a.Corpus) == 0 && len(b.Corpus) > 0:
		return "generated scenarios, not files"
	case len(a.Corpus) > 0 && len(b.Corpus) == 0:
		return "files, not generated scenarios"
	case !slices.Equal(a.Corpus, b.Corpus):
		return "other files: " + otherFile(a.Corpus, b.Corpus)
	case a.build() != b.build():
		return fmt.Sprintf("another build of informersim: %s, not %s", a.build(), b.build())
	}
	for _, key := range slices.Sorted(maps.Keys(a.Build)) {
		if x, y := a.Build[key], b.Build[key]; x != y {
			return fmt.Sprintf("another %s: %s, not %s", key, x, cmp.Or(y, "unknown"))
		}
	}
	if !maps.Equal(a.Build, b.Build) {
		return "an unknown build of informersim"
	}
	return ""
}

func otherFile(a, b []File) string {
	for n := range max(len(a), len(b)) {
		switch {
		case n >= len(a):
			return "without " + b[n].Name
		case n >= len(b):
			return "with " + a[n].Name
		case a[n].Name != b[n].Name:
			return fmt.Sprintf("%s, not %s", a[n].Name, b[n].Name)
		case a[n] != b[n]:
			return a[n].Name + " has changed since"
		}
	}
	return ""
}

func (a *Asked) build() string {
	text := cmp.Or(a.Build[reports.VersionProgram], "unknown")
	if commit := a.Build[reports.VersionCommit]; commit != "" {
		text += " at " + commit[:min(12, len(commit))]
	}
	if a.Program != "" {
		text += fmt.Sprintf(" (program %s)", a.Program)
	}
	return text
}

// The ways in which a shard ends. One that was killed has none.
const (
	Complete    = "complete"    // all of its seeds were run
	TimeUp      = "time"        // it had as long as it was given
	AtFinding   = "finding"     // it stops at findings
	Interrupted = "interrupted" // by a signal
	Failed      = "failed"      // it could not go on
)

// Shard is how far a part of a campaign has come.
type Shard struct {
	Index uint64 `json:"index"` // from 1
	// Done is the number of its runs, which are those of its first seeds.
	Done  uint64 `json:"done"`
	Ended string `json:"ended,omitempty"`
	// Failing is the number of runs that broke a property.
	Failing uint64 `json:"failing"`
	// Expected is, by property, how many runs broke what their scenario expects.
	Expected map[string]uint64 `json:"expected,omitempty"`
	Steps    uint64            `json:"steps"`
	Virtual  time.Duration     `json:"virtualNs"`
	Took     time.Duration     `json:"tookNs"` // of real time
	Faults   map[string]int    `json:"faults,omitempty"`
	// Coverage is what the faults met.
	Coverage reports.Coverage `json:"coverage,omitzero"`
}

// Add counts a run.
func (s *Shard) Add(r *reports.Run) {
	s.Steps += r.Steps
	s.Virtual += r.Virtual
	s.Coverage.Add(r.Coverage)
	switch {
	case !r.Passed():
		s.Failing++
	case r.Violation != nil:
		s.expect(r.Violation.Property, 1)
	}
	if s.Faults == nil {
		s.Faults = map[string]int{}
	}
	for _, f := range r.Faults {
		s.Faults[f.Name] += f.Count
	}
}

// expect counts runs that broke a property as expected.
func (s *Shard) expect(property string, runs uint64) {
	if s.Expected == nil {
		s.Expected = map[string]uint64{}
	}
	s.Expected[property] += runs
}

// Undecided is a seed without a verdict.
type Undecided struct {
	Seed uint64 `json:"seed"`
	Why  string `json:"why"`
	Code int    `json:"code"` // the exit code that it would have alone
}

// Campaign is what was asked, done and found.
type Campaign struct {
	Version int   `json:"informersimCampaign"`
	Asked   Asked `json:"asked"`
	// Shards are those that have begun: one, or all that were merged.
	Shards     []*Shard    `json:"parts"`
	Merged     bool        `json:"merged,omitempty"`
	Properties []string    `json:"properties,omitempty"`
	Findings   []*Finding  `json:"findings,omitempty"`
	Undecided  []Undecided `json:"undecided,omitempty"`
	// Barren is, by reason, how many runs in a row had no shape but those that were there already, as far as they were shrunk.
	Barren map[string]int `json:"barren,omitempty"`
	// Lost reports that a finding could not be kept. Its seed counts as not run.
	Lost bool `json:"-"`
}

// New returns a campaign of one shard, counted from 1, that has not begun.
func New(asked Asked, shard uint64) *Campaign {
	return &Campaign{Version: Version, Asked: asked, Shards: []*Shard{{Index: shard}}, Barren: map[string]int{}}
}

// Total sums up the shards. Its Took is the sum of theirs.
func (c *Campaign) Total() Shard {
	t := Shard{Faults: map[string]int{}}
	for _, s := range c.Shards {
		t.Done += s.Done
		t.Failing += s.Failing
		t.Steps += s.Steps
		t.Virtual += s.Virtual
		t.Took += s.Took
		t.Coverage.Add(&s.Coverage)
		for name, n := range s.Expected { // order: a map is filled
			t.expect(name, n)
		}
		for name, n := range s.Faults { // order: a map is filled
			t.Faults[name] += n
		}
	}
	return t
}

// Missing says, in sentences, which seeds were not run. What had as much time as it was given lacks nothing.
func (c *Campaign) Missing() []string {
	var all []string
	var absent []uint64
	for n := uint64(1); n <= c.Asked.Shards; n++ {
		at := slices.IndexFunc(c.Shards, func(s *Shard) bool { return s.Index == n })
		if at < 0 {
			if c.Merged && c.Asked.Runs(n) > 0 {
				absent = append(absent, n)
			}
			continue
		}
		s := c.Shards[at]
		if s.Ended == TimeUp || s.Ended == Complete {
			continue
		}
		why := map[string]string{AtFinding: "stopped at a finding", Interrupted: "was interrupted", Failed: "failed", "": "was killed, or still runs"}[s.Ended]
		next := c.Asked.Seed(n, s.Done)
		switch {
		case c.Asked.Endless():
			all = append(all, fmt.Sprintf("%s %s before seed %d", c.part(n), why, next))
		case s.Done < c.Asked.Runs(n):
			all = append(all, fmt.Sprintf("%s %s: %s not run, %s", c.part(n), why, reports.Counted(c.Asked.Runs(n)-s.Done, "seed"), c.every(next)))
		}
	}
	switch len(absent) {
	case 0:
	case 1:
		all = append(all, fmt.Sprintf("shard %d of %d is missing: %s", absent[0], c.Asked.Shards, c.every(c.Asked.Seed(absent[0], 0))))
	default:
		all = append(all, fmt.Sprintf("the shards %s of %d are missing", strings.Trim(fmt.Sprint(absent), "[]"), c.Asked.Shards))
	}
	return all
}

func (c *Campaign) part(n uint64) string {
	if c.Asked.Shards == 1 {
		return "the campaign"
	}
	return fmt.Sprintf("shard %d of %d", n, c.Asked.Shards)
}

// every names the seeds of a shard from one on.
func (c *Campaign) every(from uint64) string {
	text := fmt.Sprintf("from %d to %d", from, c.Asked.Last)
	if c.Asked.Endless() {
		text = fmt.Sprintf("from %d on", from)
	}
	if c.Asked.Shards > 1 {
		text += fmt.Sprintf(", one of every %d", c.Asked.Shards)
	}
	return text
}
