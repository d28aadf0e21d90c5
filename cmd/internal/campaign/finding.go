package campaign

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Finding is what some failing runs have in common: the property that they break, how they break it, and the shape of the run that is left when
// one of them is shrunk.
type Finding struct {
	// Name is that of its folder: the property, and a digest of the rest.
	Name     string `json:"name"`
	Property string `json:"property"`
	Message  string `json:"message"`
	// Reason is the message without names and numbers.
	Reason string `json:"reason"`
	// Shape is what the shrunk runs have in common; "" if this one could not be shrunk.
	Shape string `json:"shape,omitempty"`
	// Seed is the first that has it, Count how many have, and Seeds some of them.
	Seed  uint64   `json:"seed"`
	Count uint64   `json:"count"`
	Seeds []uint64 `json:"seeds"`
	// Scenario, Strategy and Mix are those of the seed's run.
	Scenario string `json:"scenario"`
	Strategy string `json:"strategy"`
	Mix      string `json:"faultMix,omitempty"`
	// Size is that of the run that is left, Was that of the seed's.
	Size string `json:"size,omitempty"`
	Was  string `json:"was,omitempty"`
	// Complete says that nothing more can be removed.
	Complete bool `json:"complete"`
	// Cut says that Ctrl-C has ended the search. Its seed counts as not run: a campaign that goes on makes it again, and forgets this.
	Cut bool `json:"cut,omitempty"`
	// Again are the commands that show it, from within its folder.
	Again []string `json:"again"`
	// Notes say what else must be known, such as that it does not repeat.
	Notes []string `json:"notes,omitempty"`
	// Holds are the files of its folder, by path, but the one that has this.
	Holds []string `json:"holds,omitempty"`
	// TraceBytes are the sizes of those that are traces: a copy that was cut short, or a disk that lost power, leaves less.
	TraceBytes map[string]int64 `json:"traceBytes,omitempty"`
}

// name is what a scenario calls a part of it or an object, with its numbers left out.
var name = regexp.MustCompile(`^(\S+/\S+|[a-z]{1,2}N|KEY)$`)

// opening is the first clause of a reason, without names: how a property is broken, and not what else that run has to do with it. Two defects that break a
// property in different ways are two findings even if their runs look the same.
func opening(reason string) string {
	_, text, _ := strings.Cut(reason, ": ")
	if end := strings.IndexAny(text, ",;:(\n"); end >= 0 {
		text = text[:end]
	}
	words := strings.Fields(text)
	for n, word := range words {
		if name.MatchString(word) {
			words[n] = "NAME"
		}
	}
	return strings.Join(words, " ")
}

// maxSeeds bounds Finding.Seeds.
const maxSeeds = 20

// SetName gives the finding its name.
func (f *Finding) SetName() {
	what := f.Shape + "\n" + opening(f.Reason)
	if f.Shape == "" {
		what = f.Reason
	}
	f.Name = fmt.Sprintf("%s-%x", f.Property, sha256.Sum256([]byte(f.Property+"\n"+what)))[:len(f.Property)+9]
}

// count adds a seed that has the finding.
func (f *Finding) count(seed uint64) {
	f.Count++
	if len(f.Seeds) < maxSeeds {
		f.Seeds = append(f.Seeds, seed)
	}
}

// mostBarren is how many runs that break for the same reason are shrunk in a row to a shape that is there already. Of the next ones, only those after 4, 8, 16
// and so on are; the others are taken for that finding: a defect that breaks every tenth run would take hours otherwise, and one that
// is rare, and breaks runs for the same reason, would never be seen beside it.
const mostBarren = 3

// Known returns the finding of a run that breaks for a reason, if it need not be shrunk to know that.
func (c *Campaign) Known(reason string) *Finding {
	if n := c.Barren[reason]; n < mostBarren || n&(n-1) == 0 {
		return nil
	}
	at := slices.IndexFunc(c.Findings, func(f *Finding) bool { return f.Reason == reason })
	if at < 0 {
		return nil
	}
	return c.Findings[at]
}

// Count counts a seed that has a known finding.
func (c *Campaign) Count(f *Finding, seed uint64) {
	c.Barren[f.Reason]++
	f.count(seed)
}

// Has reports whether there is a finding of that name.
func (c *Campaign) Has(name string) bool {
	return slices.ContainsFunc(c.Findings, func(f *Finding) bool { return f.Name == name })
}

// Find adds the finding of a seed, and tells whether it is new. Otherwise the one that is there counts the seed.
func (c *Campaign) Find(f *Finding) (isNew bool) {
	f.SetName()
	if f.Cut { // its run is made again, and counts then
		f.count(f.Seed)
		c.Findings = append(c.Findings, f)
		return true
	}
	if at := slices.IndexFunc(c.Findings, func(x *Finding) bool { return x.Name == f.Name }); at >= 0 {
		c.Barren[f.Reason]++
		c.Findings[at].count(f.Seed)
		return false
	}
	c.Barren[f.Reason] = 0
	f.count(f.Seed)
	c.Findings = append(c.Findings, f)
	return true
}

// RunsTo returns how many runs it took to find it: the first that has it counts.
func (c *Campaign) RunsTo(f *Finding) uint64 {
	if c.Merged || c.Asked.Shards < 2 {
		return f.Seed - c.Asked.First + 1
	}
	return (f.Seed-c.Asked.First)/c.Asked.Shards + 1
}

// join adds the seeds of another shard that have the same finding.
func (f *Finding) join(g *Finding) {
	f.Count += g.Count
	f.Seeds = slices.Concat(f.Seeds, g.Seeds)
	slices.Sort(f.Seeds)
	f.Seeds = f.Seeds[:min(maxSeeds, len(f.Seeds))]
}

// headline is the finding on one line.
func (f *Finding) headline() string {
	return firstLine(f.Message)
}

func firstLine(text string) string {
	line, _, more := strings.Cut(text, "\n")
	if more {
		line += " …"
	}
	return line
}
