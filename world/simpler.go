package world

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// How long a step may take, in real time, where most runs hang: a search makes dozens of them. What it leaves is made once more with more patience, as a
// step may take long on a busy machine.
const (
	hangOfMany = 300 * time.Millisecond
	hangOfFew  = time.Second // where steps are slow
	hangOfOne  = 3 * time.Second
)

// mayBeSimpler reports whether a run that has ended or hung its process can be made in others of the test's program.
func (r *runner) mayBeSimpler(res *outcome) bool {
	return r.canStartAgain() && r.task.Shrink > 0 && r.o.Strategy != fifo && r.shrinking == "" && res.culprit() != nil
}

// canStartAgain reports whether there can be other processes of the test's program that run only this test.
func (r *runner) canStartAgain() bool {
	return r.program != nil && len(r.task.Again) > 0 && !r.task.Worker
}

// simplerElsewhere is simpler with processes that it ends.
func (r *runner) simplerElsewhere(res *outcome) *outcome {
	o := &others{r: r}
	defer o.close()
	return o.simpler(res, r.task.Shrink)
}

// simpler looks, within a limit of real time, for a simpler run that ends or hangs its process in the same way. The trace of what it returns
// repeats: nil if no other process came to that end.
func (o *others) simpler(res *outcome, limit time.Duration) *outcome {
	picks, err := res.picks()
	if err != nil {
		return nil
	}
	r, now := o.r, o.r.host.Now()
	if o.deadline = now.Add(limit + twinTime + time.Second); res.stuck {
		o.limit, o.deadline = hangOfMany, o.deadline.Add(hangOfOne)
	}
	s := &shrinker{
		r: r, header: res.header, deadline: now.Add(limit), maxSteps: 2*res.steps + 1000, best: res, picks: picks,
		play: o.play, spoils: o.spoils,
	}
	wanted := res.culprit()
	s.same = func(other *outcome) bool { return wanted.is(other.culprit()) }
	first := s.again(o)
	if first == nil {
		return nil
	}
	wanted = first.culprit() // what this process could not know of the test's own is known now
	if picks, err = first.picks(); err != nil {
		return nil
	}
	s.best, s.picks = first, picks
	s.header.Options = maps.Clone(res.header.Options)
	s.header.Options[optionShrunk] = res.size()
	s.search(first, picks)
	if !s.isSimpler(first) && r.host.Stopped() || res.stuck && !s.holds(o) {
		return nil
	}
	if s.best.dead {
		s.best.err = s.best.errDied()
	}
	s.best.conclude(func(c *reports.Conclusion) { c.Repeats = true })
	return s.best
}

// again makes the run that is to be simpler once more: from its picks and, if that ends otherwise, from its seed. It returns nil if that does, too.
func (s *shrinker) again(o *others) *outcome {
	for _, from := range []source{{header: s.header, picks: &s.picks, maxSteps: s.maxSteps}, {header: s.header, maxSteps: s.maxSteps}} {
		again := s.play(from)
		if o.limit == hangOfMany && !s.same(again) {
			o.close()
			o.limit = hangOfFew
			again = s.play(from)
		}
		if s.over() {
			return nil
		}
		if s.same(again) {
			return again
		}
	}
	return nil
}

// simplify makes the run of a kept trace simpler that has ended or hung its process, unless that is done.
func (r *runner) simplify(file string) {
	data, err := os.ReadFile(r.path(file))
	if err != nil {
		return // to replay it says so
	}
	res := cutOutcome(data)
	if res == nil || res.header.Scenario != r.task.Test || res.header.Options[optionRun] != "" && res.header.Options[optionRun] != strconv.Itoa(r.task.Run) || !r.mayBeSimpler(res) {
		return
	}
	simpler := r.simplerElsewhere(res)
	if simpler == nil {
		return
	}
	if err := r.storeSimpler(simpler, file); err != nil {
		r.logf("%s could be made simpler, but not stored: %v", file, err)
	}
}

// hangsAgain reports whether a replay has hung its process where the trace's run did, and in the same way.
func (r *runner) hangsAgain(res *outcome) bool {
	return r.told.Repeats && res.played && res.stuck && hang(errors.New(r.told.Failure)).is(res.culprit())
}

// cutOutcome returns what a trace has of a run that has ended or hung its process; nil if it is another's, or repeats.
func cutOutcome(trace []byte) *outcome {
	about := conclusionIn(trace)
	if about.Repeats {
		return nil
	}
	tr, err := sim.NewTraceReader("the trace", bytes.NewReader(trace))
	if err != nil {
		return nil
	}
	res := newOutcome(tr.Header())
	for err == nil {
		_, err = tr.Next()
	}
	end := tr.End()
	if err != io.EOF || end == nil || !end.CutOff() || res.header.Subject != subject {
		return nil
	}
	res.dead, res.stuck, res.crash = end.Verdict == sim.EndDied, end.Verdict == sim.EndStuck, about.Failure
	if res.stuck {
		res.err = errors.New(about.Failure)
	}
	if about.Next != nil {
		if p, ok := about.Next.Pick(); ok {
			res.next = &p
		}
	}
	res.trace.Write(trace)
	res.count()
	return res
}

// holds makes the best run once more, with more patience, and reports whether it still hangs.
func (s *shrinker) holds(o *others) bool {
	o.close()
	o.limit = hangOfOne
	last := s.play(source{header: s.best.header, picks: new(slices.Clone(s.picks)), timed: s.timed, maxSteps: s.maxSteps})
	if !s.same(last) {
		return false
	}
	if t := s.best.twin; t != nil {
		last.tellOf(t)
	}
	s.best = last
	return true
}

// picks returns the choices of a run, with that of the step in which it was cut off.
func (o *outcome) picks() ([]sim.Pick, error) {
	tr, err := o.read()
	if err != nil {
		return nil, err
	}
	picks, err := sim.ReadPicks(tr)
	if err == nil && o.next != nil {
		picks = append(picks, *o.next)
	}
	return picks, err
}

// errDied is what a run has met that has ended its process.
func (o *outcome) errDied() error {
	switch {
	case o.crash == "":
		return errors.New("the process died: it exited, or was killed")
	case strings.HasPrefix(o.crash, reports.Exited):
		return errors.New(o.crash)
	}
	return errors.New("the process died: " + o.crash)
}
