package simtest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// summary is what the seeds of one Run did together.
type summary struct {
	seeds     int
	faults    map[string]int    // by kind
	virtual   time.Duration     // while there could be faults
	calm      time.Duration     // after they had stopped
	sometimes map[string]int    // by condition of Env.Sometimes: the seeds in which it held
	aimed     map[string]int    // by client that faults were aimed at: the seeds in which it made a request
	clients   []string          // that made requests in a seed in which one of those did not
	told      bool              // in some seed, the test has told of reconciles
	restarted bool              // in some seed, processes were restarted at the end
	busy      bool              // in some seed, a client of Env.RESTConfig made a request
	exited    map[string]int    // by process that ended with an error: the seeds in which it did, and no client made a request
	errors    map[string]string // the last of those errors
}

func newSummary() *summary {
	return &summary{faults: map[string]int{}, sometimes: map[string]int{}, aimed: map[string]int{}, exited: map[string]int{}, errors: map[string]string{}}
}

// add counts a seed that passed.
func (s *summary) add(p *wire.Passed) {
	s.seeds++
	s.told = s.told || p.Reconciles > 0
	s.restarted = s.restarted || p.Restarted
	s.busy = s.busy || !p.Idle
	s.virtual += p.Virtual
	s.calm += p.Calm
	for name, err := range p.Exited { // order: each is counted by itself
		s.exited[name]++
		s.errors[name] = err
	}
	for kind, n := range p.Faults {
		s.faults[kind] += n
	}
	count(s.sometimes, p.Sometimes)
	count(s.aimed, p.Aimed)
	for _, name := range p.Clients {
		if !slices.Contains(s.clients, name) {
			s.clients = append(s.clients, name)
		}
	}
}

// count counts the seeds in which something was true.
func count(seeds map[string]int, is map[string]bool) {
	for name, yes := range is {
		if yes {
			seeds[name]++
		} else {
			seeds[name] += 0
		}
	}
}

// counted returns a number with its noun.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// The summary is one line, so it names only the most frequent kinds of faults, and conditions only if they are few.
const (
	kindsInSummary      = 4
	conditionsInSummary = 4
)

// String says what was done: "20 seeds, 231 faults (watch-eof 40, …), 41h of virtual time and 10h after the faults had stopped".
func (s *summary) String() string {
	parts := []string{counted(s.seeds, "seed"), s.faultsText()}
	times := spanOf(s.virtual) + " of virtual time"
	if s.calm > 0 {
		times += " and " + spanOf(s.calm) + " after the faults had stopped"
	}
	parts = append(parts, times)
	if n := len(s.sometimes); n > 0 && n <= conditionsInSummary {
		for _, name := range slices.Sorted(maps.Keys(s.sometimes)) {
			parts = append(parts, fmt.Sprintf("%q in %d", name, s.sometimes[name]))
		}
	}
	return strings.Join(parts, ", ")
}

func (s *summary) faultsText() string {
	total := 0
	kinds := slices.Collect(maps.Keys(s.faults))
	for _, k := range kinds {
		total += s.faults[k]
	}
	if total == 0 {
		return "no faults"
	}
	slices.SortFunc(kinds, func(a, b string) int {
		return cmp.Or(cmp.Compare(s.faults[b], s.faults[a]), strings.Compare(a, b))
	})
	var named []string
	for i, k := range kinds {
		if i == kindsInSummary && len(kinds) > kindsInSummary+1 {
			named = append(named, fmt.Sprintf("and %d other kinds", len(kinds)-i))
			break
		}
		named = append(named, fmt.Sprintf("%s %d", k, s.faults[k]))
	}
	return fmt.Sprintf("%s (%s)", counted(total, "fault"), strings.Join(named, ", "))
}

// never returns what was true in no seed.
func never(seeds map[string]int) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(seeds)) {
		if seeds[name] == 0 {
			names = append(names, name)
		}
	}
	return names
}

// silent says of a client that faults were aimed at and that made no request in any seed why that is an error.
func (s *summary) silent(name string) string {
	text := fmt.Sprintf("faults are aimed at the client %q, which has made no request in %s, so none ever strikes: a fault's Target is the name that env.RESTConfig was given",
		name, counted(s.seeds, "seed"))
	if len(s.clients) > 0 {
		slices.Sort(s.clients)
		text += "; those that have made requests are " + strings.Join(s.clients, ", ")
	}
	return text
}

// broken says of processes that ended with an error in half of the seeds or more, before any client had made a request, that nothing has been tested there. Faults are no
// reason for that: they strike requests.
func (s *summary) broken() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(s.exited)) {
		if n := s.exited[name]; 2*n >= s.seeds {
			all = append(all, fmt.Sprintf("nothing is tested in %d of %s: no client of env.RESTConfig makes a request there, and the process %q returns an error each time: %s",
				n, counted(s.seeds, "seed"), name, s.errors[name]))
		}
	}
	return all
}

// spanOf rounds a virtual time to what is worth reading: "41h", "12m", "3.5s".
func spanOf(d time.Duration) string {
	switch {
	case d >= 2*time.Hour:
		return fmt.Sprintf("%.0fh", d.Hours())
	case d >= 2*time.Minute:
		return fmt.Sprintf("%.0fm", d.Minutes())
	case d >= 10*time.Second:
		return fmt.Sprintf("%.0fs", d.Seconds())
	}
	return d.Round(time.Millisecond).String()
}

// moreSeeds is how many seeds a Run suggests that found nothing with n.
func moreSeeds(n int) int {
	if n < 500 {
		return 500
	}
	return 10 * n
}

// summarize logs what the seeds did, which go test shows with -v only, and ends the Run by what Env.Sometimes and aimed faults demand of
// all seeds; a single one that a flag names need not show it.
func (r *runner) summarize() {
	r.t.Helper()
	s := r.done
	var missed, silent, broken []string
	if flags.seed == 0 {
		missed, silent, broken = never(s.sometimes), never(s.aimed), s.broken()
	}
	text := "simtest: " + s.String()
	if len(missed) == 0 && len(silent) == 0 && len(broken) == 0 && !r.t.Failed() {
		text += ", nothing found"
		if !s.busy {
			text += " (no client of env.RESTConfig has made a request)"
		}
		if s.busy {
			text += r.unseen()
		}
	}
	if flags.seed == 0 {
		text += fmt.Sprintf("; more: -simtest.seeds=%d", moreSeeds(s.seeds))
	}
	r.t.Logf("%s", text)
	r.warnOfEngine()
	for _, why := range broken {
		r.t.Errorf("simtest: %s", why)
	}
	for _, name := range silent {
		r.t.Errorf("simtest: %s", s.silent(name))
	}
	for _, name := range missed {
		r.t.Errorf("simtest: %q (env.Sometimes) never held in %s: the test does not exercise it; give it more seeds or faults", name, counted(s.seeds, "seed"))
	}
}

// untold are, by property, the reconciles that it cannot see unless the test tells of them.
var untold = []struct{ property, unseen string }{
	{NoEndlessError, "that fails for ever, unless the error is logged with klog"},
	{NoForgottenFailure, "that is given up"},
	{NoRevival, "that creates its object when that has gone"},
	{NoHotReconcile, "that comes again and again without a request"},
}

// unseen says what ready-made properties that the test asks for have not seen, and why; "" for nothing.
func (r *runner) unseen() (text string) {
	if all := r.untold(); len(all) > 0 {
		text = "; the test tells of no reconciles (simtest.Logger for controller-runtime from v0.15 on, env.Reconciling), so " + strings.Join(all, ", and ")
	}
	if !r.done.restarted && asksFor(r.o.Properties, QuietAfterRestart) {
		why := "at the end no process runs (env.Go)"
		if r.neverCrash() {
			why = "its processes never crash (Options.CrashProbability)"
		}
		text += "; " + why + ", so " + QuietAfterRestart + " restarts none"
	}
	return text
}

// untold says which reconciles have not been seen, since the test tells of none.
func (r *runner) untold() (all []string) {
	for _, x := range untold {
		if !r.done.told && asksFor(r.o.Properties, x.property) {
			all = append(all, x.property+" sees none "+x.unseen)
		}
	}
	return all
}

// neverCrash reports whether a process crashes in no seed of the test.
func (r *runner) neverCrash() bool {
	o := &r.data
	return o.CrashProbability < 0 || o.CrashProbability == 0 && (o.Strategy == "fifo" || (o.Mix != "" || o.FaultMix != nil) && !o.DrawRest)
}

// summarizeBefore logs what was done before a failure.
func (r *runner) summarizeBefore() {
	r.t.Helper()
	if r.done.seeds > 0 {
		r.t.Logf("simtest: before this failure: %s, nothing found", r.done)
	}
}
