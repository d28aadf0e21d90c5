package sim

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Replay is the strategy `replay`: it picks what the trace picked, supplies the recorded random numbers, and compares every
// record with the trace. Pass it to Options as Strategy and as Tape, and add it as an observer. The first difference ends the
// run, unless Then says who goes on.
type Replay struct {
	r      *TraceReader
	k      *Kernel
	cur    *TraceStep
	seen   int        // number of records of cur matched so far
	ahead  *TraceStep // the step after cur, if Finish has read it
	failed *DivergedError
	open   bool     // the step of failed is not over: its records are collected
	then   Strategy // goes on after a difference; nil for nobody
	cut    *TraceError
	early  bool // the trace ended before its run was over, and the replay with it
	stray  uint64
}

// NewReplay returns a strategy that repeats the trace in r.
func NewReplay(r *TraceReader) *Replay { return &Replay{r: r} }

// Bind sets the kernel that the replay drives, in which it looks up the names in the trace.
func (p *Replay) Bind(k *Kernel) {
	p.k = k
	if s, ok := p.then.(interface{ Bind(*Kernel) }); ok {
		s.Bind(k)
	}
}

// Name returns "replay".
func (*Replay) Name() string { return "replay" }

// Then has s go on after the first difference, as the run of the trace's seed would have gone on: s is asked for a pick at every
// step from the first, so it is where it was when the trace was written, and so is every stream. Without a difference, the replay
// of a trace without its end ends where that does, and the trace of a run that was ended from outside likewise.
func (p *Replay) Then(s Strategy) { p.then = s }

// StopFaults passes on that the faults are over.
func (p *Replay) StopFaults() {
	if s, ok := p.then.(interface{ StopFaults() }); ok {
		s.StopFaults()
	}
}

// Diverged returns the first difference from the trace, nil if there was none so far.
func (p *Replay) Diverged() *DivergedError { return p.failed }

// Strayed returns the first step at which the strategy of Then would have picked something else than the trace, 0 if there is none:
// what could happen had changed, although nothing that the trace records. What goes on after a difference is then not the run of the
// trace's seed.
func (p *Replay) Strayed() uint64 { return p.stray }

// EndedEarly reports whether the replay ended, without a difference, where the trace of an unfinished run ends. The error says
// what the file lacks, nil if it is complete.
func (p *Replay) EndedEarly() (cut *TraceError, early bool) { return p.cut, p.early }

// Done reports whether the whole trace was played, to its end line.
func (p *Replay) Done() bool { return p.Finish() == nil }

// Finish returns, once the run is over, how it differs from the trace: it diverged or the trace continues (both a
// *DivergedError), or the rest of the file is damaged (a *TraceError). It returns nil if the whole trace was played.
func (p *Replay) Finish() error {
	if p.failed != nil {
		return p.failed
	}
	s, err := p.next()
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return err
	}
	p.ahead = s
	return &DivergedError{Step: s.Step, Trace: s, Why: fmt.Sprintf("the run is over, but the trace continues with %s %s target=%d seq=%d", s.Actor, s.Kind, s.Target, s.Seq)}
}

// next returns the trace's next step.
func (p *Replay) next() (*TraceStep, error) {
	if s := p.ahead; s != nil {
		p.ahead = nil
		return s, nil
	}
	return p.r.Next()
}

// Pick implements Strategy.
func (p *Replay) Pick(r *Ready, step uint64) (Choice, error) {
	if p.k == nil {
		return Choice{}, errors.New("sim: a replay needs a call of Bind before the first step")
	}
	if p.then == nil {
		return p.fromTrace(r)
	}
	free, err := p.then.Pick(r, step)
	if p.failed == nil {
		c, why := p.fromTrace(r)
		switch {
		case why == nil:
			if p.stray == 0 && (err != nil || free != c) {
				p.stray = step
			}
			return c, nil
		case err == ErrNothingToDo && p.failed == nil:
			return free, err
		case p.ends(why):
			return Choice{}, ErrNothingToDo
		case why == ErrNothingToDo:
			p.failed = &DivergedError{Step: step, Why: fmt.Sprintf("the trace ends here (%s), but the run goes on", p.r.End().Verdict)}
		case p.failed == nil:
			return Choice{}, why
		}
		if err == nil {
			p.failed.Run, p.open = p.stepOf(free, step), true
		}
	}
	return free, err
}

// fromTrace returns what the trace picked.
func (p *Replay) fromTrace(r *Ready) (Choice, error) {
	s, err := p.next()
	if err == io.EOF {
		return Choice{}, ErrNothingToDo
	}
	if err != nil {
		return Choice{}, err
	}
	p.cur, p.seen = s, 0
	if at := p.k.Elapsed(); int64(at) != s.At {
		return Choice{}, p.diverged("the clock is at %v, in the trace at %v", at, time.Duration(s.At))
	}
	return p.resolve(r, s)
}

// ends reports whether the trace's run was not over where the trace ends.
func (p *Replay) ends(err error) bool {
	var broken *TraceError
	switch {
	case errors.As(err, &broken) && broken.Cut != NotCut:
		p.cut, p.early = broken, true
	case err == ErrNothingToDo && p.r.End().EndedEarly():
		p.early = true
	}
	return p.early
}

// stepOf describes a pick of this run. Its records are added as they are emitted.
func (p *Replay) stepOf(c Choice, step uint64) *TraceStep {
	return &TraceStep{Step: step, At: int64(p.k.Elapsed()), Actor: p.k.ActorName(c.Actor), Kind: c.Kind.String(), Target: c.Target, Seq: c.Seq}
}

func (p *Replay) resolve(r *Ready, s *TraceStep) (Choice, error) {
	id, ok := p.k.ActorByName(s.Actor)
	if !ok {
		return Choice{}, p.diverged("the trace picks %s of actor %q, which this run does not have (yet); it has: %s",
			s.Kind, s.Actor, p.actors())
	}
	kind, ok := KindByName(s.Kind)
	if !ok {
		return Choice{}, p.diverged("the trace picks %q of %s, a kind of choice unknown to this informersim", s.Kind, s.Actor)
	}
	want := Choice{Actor: id, Kind: kind, Target: s.Target, Seq: s.Seq}
	if r.Time && want == r.Advance {
		return want, nil
	}
	for _, set := range [][]Offer{r.Actions, r.Faults} {
		if i := search(set, want.order()); i < len(set) && set[i].Choice == want {
			return want, nil
		}
	}
	err := p.diverged("the trace picks %s, which is not enabled; enabled are: %s", p.k.Describe(want), p.enabled(r))
	for _, set := range [][]Offer{r.Actions, r.Faults} {
		for _, o := range set {
			p.failed.Enabled = append(p.failed.Enabled, *p.stepOf(o.Choice, s.Step))
		}
	}
	if r.Time {
		p.failed.Enabled = append(p.failed.Enabled, *p.stepOf(r.Advance, s.Step))
	}
	return Choice{}, err
}

// actors lists the names of the run's actors, as many as fit a message.
func (p *Replay) actors() string {
	var l shortList
	for id := range p.k.actors {
		l.add(p.k.ActorName(ActorID(id)))
	}
	return l.String()
}

// enabled lists the choices of r, as many as fit a message.
func (p *Replay) enabled(r *Ready) string {
	var l shortList
	for _, set := range [][]Offer{r.Actions, r.Faults} {
		for _, o := range set {
			l.add(p.k.Describe(o.Choice))
		}
	}
	if r.Time {
		l.add(p.k.Describe(r.Advance))
	}
	return l.String()
}

// shortList joins items with semicolons, up to the length of a readable message.
type shortList struct {
	text string
	more int
}

func (l *shortList) add(item string) {
	switch {
	case len(l.text) > 400:
		l.more++
	case l.text == "":
		l.text = item
	default:
		l.text += "; " + item
	}
}

func (l *shortList) String() string {
	switch {
	case l.text == "":
		return "nothing"
	case l.more > 0:
		return fmt.Sprintf("%s; and %d more", l.text, l.more)
	}
	return l.text
}

// Draw implements Tape.
func (p *Replay) Draw(step uint64, n int) (uint64, bool) {
	if p.failed != nil || p.cur == nil {
		if tape, ok := p.then.(Tape); ok {
			return tape.Draw(step, n)
		}
		return 0, false
	}
	if n >= len(p.cur.draws) {
		p.diverged("the run draws random number %d of this step, but the trace does not have it", n+1)
		p.follow()
		return 0, false
	}
	return p.cur.draws[n], true
}

// follow begins to collect what the run does in the step of the difference; so far it did what the trace has.
func (p *Replay) follow() {
	s := *p.cur
	s.Records = append([]TraceRecord(nil), p.cur.Records[:p.seen]...)
	p.failed.Run, p.open = &s, true
}

// Record implements Observer.
func (p *Replay) Record(r *Record) {
	if p.open {
		at := int64(r.At)
		p.failed.Run.Records = append(p.failed.Run.Records, TraceRecord{
			Kind: r.Kind.String(), Actor: p.k.ActorName(r.Actor), At: &at, Key: r.Key, RV: r.RV, N: r.N, Detail: r.Detail, Note: r.Note,
		})
	}
	if p.failed != nil || p.cur == nil {
		return
	}
	if p.seen >= len(p.cur.Records) {
		p.diverged("the run emits one record more than the trace:\n  %s", p.printRecord(r))
		p.follow()
		p.Record(r)
		return
	}
	w := &p.cur.Records[p.seen]
	at := w.at(p.cur)
	if int64(r.At) != at || r.RV != w.RV || r.N != w.N || r.Key != w.Key || r.Detail != w.Detail ||
		p.k.ActorName(r.Actor) != w.Actor || r.Kind.String() != w.Kind {
		p.diverged("the run emits\n  %s\nthe trace has\n  %s", p.printRecord(r),
			printRecord(w.Actor, w.Kind, at, w.Key, w.RV, w.N, w.Detail))
		p.follow()
		p.Record(r)
		return
	}
	p.seen++
}

// StepEnd implements Observer.
func (p *Replay) StepEnd(s *StepInfo) {
	was := p.failed
	switch {
	case p.failed != nil || p.cur == nil:
	case p.seen < len(p.cur.Records):
		w := &p.cur.Records[p.seen]
		p.diverged("the run lacks the record\n  %s", printRecord(w.Actor, w.Kind, w.at(p.cur), w.Key, w.RV, w.N, w.Detail))
	case len(s.Draws) != len(p.cur.draws):
		p.diverged("the run draws %d random numbers, the trace has %d", len(s.Draws), len(p.cur.draws))
	case FormatHash(s.Hash) != p.cur.Hash:
		p.diverged("the hash is %s, in the trace %s, although the step agrees: the run was not started from the trace's header", FormatHash(s.Hash), p.cur.Hash)
	}
	if p.failed != was {
		p.follow()
	}
	p.open = false
	if p.failed != nil && p.then == nil {
		p.k.Fail(p.failed)
	}
}

// diverged records the first difference and returns it.
func (p *Replay) diverged(format string, args ...any) error {
	if p.failed == nil {
		p.failed = &DivergedError{Step: p.cur.Step, Trace: p.cur, Why: fmt.Sprintf(format, args...)}
	}
	return p.failed
}

func (p *Replay) printRecord(r *Record) string {
	return printRecord(p.k.ActorName(r.Actor), r.Kind.String(), int64(r.At), r.Key, r.RV, r.N, r.Detail)
}

func printRecord(actor, kind string, at int64, key string, rv, n int64, detail string) string {
	return fmt.Sprintf("%s %s t=%v key=%q rv=%d n=%d %q", actor, kind, time.Duration(at), key, rv, n, detail)
}
