package sim

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Replay is the strategy `replay`: it picks what a trace says, supplies the random numbers that the trace recorded, and
// compares every record with the trace. Give it to Options as Strategy and as Tape, and add it as an observer.
type Replay struct {
	r      *TraceReader
	k      *Kernel
	cur    *TraceStep
	seen   int // records of cur that were matched
	done   bool
	failed error
}

// NewReplay returns the strategy that repeats the trace that r is about to read.
func NewReplay(r *TraceReader) *Replay { return &Replay{r: r} }

// Bind tells the replay which kernel it drives: names in the trace are looked up there.
func (p *Replay) Bind(k *Kernel) { p.k = k }

// Name is "replay".
func (*Replay) Name() string { return "replay" }

// Done tells whether the whole trace was played.
func (p *Replay) Done() bool { return p.done }

// Pick implements Strategy.
func (p *Replay) Pick(r *Ready, step uint64) (Choice, error) {
	if p.failed != nil {
		return Choice{}, p.failed
	}
	s, err := p.r.Next()
	if err == io.EOF {
		p.done = true
		return Choice{}, ErrNothingToDo
	}
	if err != nil {
		return Choice{}, err
	}
	p.cur, p.seen = s, 0
	if at := p.k.Elapsed(); int64(at) != s.At {
		return Choice{}, p.diverged("the clock stands at %v, in the trace at %v", at, time.Duration(s.At))
	}
	c, ok := p.resolve(r, s)
	if !ok {
		return Choice{}, p.diverged("the trace picks %s %s target=%d seq=%d, which is not enabled here; enabled are: %s",
			s.Actor, s.Kind, s.Target, s.Seq, p.enabled(r))
	}
	return c, nil
}

func (p *Replay) resolve(r *Ready, s *TraceStep) (Choice, bool) {
	id, ok := p.k.ActorByName(s.Actor)
	if !ok {
		return Choice{}, false
	}
	kind, ok := KindByName(s.Kind)
	if !ok {
		return Choice{}, false
	}
	want := Choice{Actor: id, Kind: kind, Target: s.Target, Seq: s.Seq}
	if r.Time && want == r.Advance {
		return want, true
	}
	for _, set := range [][]Offer{r.Actions, r.Faults} {
		if i := search(set, want.order()); i < len(set) && set[i].Choice == want {
			return want, true
		}
	}
	return Choice{}, false
}

func (p *Replay) enabled(r *Ready) string {
	var b strings.Builder
	for _, set := range [][]Offer{r.Actions, r.Faults} {
		for _, o := range set {
			if b.Len() > 400 {
				b.WriteString("; …")
				return b.String()
			}
			if b.Len() > 0 {
				b.WriteString("; ")
			}
			b.WriteString(p.k.Describe(o.Choice))
		}
	}
	if r.Time {
		b.WriteString("; clock advance")
	}
	if b.Len() == 0 {
		return "nothing"
	}
	return b.String()
}

// Draw implements Tape.
func (p *Replay) Draw(step uint64, n int) (uint64, bool) {
	if p.cur == nil || n >= len(p.cur.draws) {
		return 0, false
	}
	return p.cur.draws[n], true
}

// Record implements Observer.
func (p *Replay) Record(r *Record) {
	if p.failed != nil || p.cur == nil {
		return
	}
	if p.seen >= len(p.cur.Records) {
		p.failed = p.diverged("the run emits one record more than the trace:\n  %s", p.printRecord(r))
		return
	}
	w := &p.cur.Records[p.seen]
	p.seen++
	at := w.at(p.cur)
	if int64(r.At) != at || r.RV != w.RV || r.N != w.N || r.Key != w.Key || r.Detail != w.Detail ||
		p.k.ActorName(r.Actor) != w.Actor || r.Kind.String() != w.Kind {
		p.failed = p.diverged("the run emits\n  %s\nthe trace has\n  %s", p.printRecord(r),
			printRecord(w.Actor, w.Kind, at, w.Key, w.RV, w.N, w.Detail))
	}
}

// StepEnd implements Observer.
func (p *Replay) StepEnd(s *StepInfo) {
	switch {
	case p.failed != nil || p.cur == nil:
	case p.seen < len(p.cur.Records):
		w := &p.cur.Records[p.seen]
		p.failed = p.diverged("the run lacks the record\n  %s", printRecord(w.Actor, w.Kind, w.at(p.cur), w.Key, w.RV, w.N, w.Detail))
	case len(s.Draws) != len(p.cur.draws):
		p.failed = p.diverged("the run draws %d random numbers, the trace has %d", len(s.Draws), len(p.cur.draws))
	case FormatHash(s.Hash) != p.cur.Hash:
		p.failed = p.diverged("the hash is %s, in the trace %s", FormatHash(s.Hash), p.cur.Hash)
	}
	if p.failed != nil {
		p.k.Fail(p.failed)
	}
}

func (p *Replay) diverged(format string, args ...any) error {
	return &DivergedError{Step: p.cur.Step, Why: fmt.Sprintf(format, args...)}
}

func (p *Replay) printRecord(r *Record) string {
	return printRecord(p.k.ActorName(r.Actor), r.Kind.String(), int64(r.At), r.Key, r.RV, r.N, r.Detail)
}

func printRecord(actor, kind string, at int64, key string, rv, n int64, detail string) string {
	return fmt.Sprintf("%s %s t=%v key=%q rv=%d n=%d %q", actor, kind, time.Duration(at), key, rv, n, detail)
}
