package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Configuration is that of one informer in a run: what the script says of it, and what the run chose where the script is silent.
type Configuration struct {
	Informer  string        `json:"informer"`
	Queue     string        `json:"queue"`
	WatchList bool          `json:"watchList"`
	Page      int64         `json:"page"`              // the limit of its lists; 0 for the reflector's own
	Resync    time.Duration `json:"resyncNs"`          // 0 for none
	Replica   string        `json:"replica,omitempty"` // which serves it; "" in a cluster of one
}

// String renders it as arguments of the command that starts the informer.
func (c Configuration) String() string {
	text := fmt.Sprintf("queue=%s watch-list=%s page=%d resync=%v", c.Queue, onOff(c.WatchList), c.Page, c.Resync)
	if c.Replica != "" {
		text += " replica=" + c.Replica
	}
	return text
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// The most that a verdict says of configurations; JSON has all of them.
const (
	maxConfigurations = 6 // lines
	maxInformers      = 4 // names on a line
)

// configurationLines renders the configurations of a run, informers with the same one together.
func configurationLines(all []Configuration) []string {
	var order []string
	names := map[string][]string{}
	for _, c := range all {
		text := c.String()
		if names[text] == nil {
			order = append(order, text)
		}
		names[text] = append(names[text], c.Informer)
	}
	var lines []string
	told := 0
	for n, text := range order {
		of := names[text]
		if n == maxConfigurations-1 && len(order) > maxConfigurations {
			return append(lines, fmt.Sprintf("and %d more informers", len(all)-told))
		}
		told += len(of)
		word := "informer"
		if len(of) > 1 {
			word = "informers"
		}
		if more := len(of) - maxInformers; more > 0 {
			of = append(slices.Clone(of[:maxInformers]), fmt.Sprintf("%d more", more))
		}
		lines = append(lines, PlainLine(fmt.Sprintf("%s %s: %s", word, strings.Join(of, ", "), text)))
	}
	return lines
}

// Configurations totals configurations: over which of them some runs went. The zero value has none.
type Configurations struct{ queue, watchList, page, resync, replica tally }

// Add adds the configurations of a run.
func (t *Configurations) Add(all []Configuration) {
	for _, c := range all {
		t.queue.add(c.Queue, rank(c.Queue, "delta", "inorder", "atomic"))
		t.watchList.add(onOff(c.WatchList), rank(onOff(c.WatchList), "off", "on"))
		t.page.add(fmt.Sprint(c.Page), c.Page)
		t.resync.add(c.Resync.String(), int64(c.Resync))
		if c.Replica != "" {
			t.replica.add(c.Replica, rank(c.Replica, "choice", "round-robin"))
		}
	}
}

// String renders the totals in one line: `queue delta ×331 inorder ×338 atomic ×331 · watch-list off ×490 on ×510 · …`; "" if there
// are none.
func (t *Configurations) String() string {
	var parts []string
	for _, d := range []struct {
		name string
		tally
	}{{"queue", t.queue}, {"watch-list", t.watchList}, {"page", t.page}, {"resync", t.resync}, {"replica", t.replica}} {
		if len(d.tally) > 0 {
			parts = append(parts, d.name+d.String())
		}
	}
	return PlainLine(strings.Join(parts, " · "))
}

// tally says how often each value occurred, in the order of their ranks.
type tally []valueCount

type valueCount struct {
	value string
	rank  int64
	n     uint64
}

func (c *tally) add(value string, rank int64) {
	n, found := slices.BinarySearchFunc(*c, value, func(x valueCount, value string) int {
		return cmp.Or(cmp.Compare(x.rank, rank), cmp.Compare(x.value, value))
	})
	if !found {
		*c = slices.Insert(*c, n, valueCount{value: value, rank: rank})
	}
	(*c)[n].n++
}

func (c tally) String() string {
	var b strings.Builder
	for _, x := range c {
		fmt.Fprintf(&b, " %s ×%d", x.value, x.n)
	}
	return b.String()
}

// rank is a word's place in an order; words that it does not name come last.
func rank(word string, order ...string) int64 {
	if n := slices.Index(order, word); n >= 0 {
		return int64(n)
	}
	return int64(len(order))
}
