package scenarios

import (
	"context"
	"errors"
	"fmt"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/sim"
)

// OfTrace returns the scenario in a trace's header, and o with the seed, the strategy and the mix of its run. With them, Run makes
// that run again from its seed.
func OfTrace(h sim.Header, o Options) (*Scenario, Options, error) {
	f, err := script.Parse(h.Scenario, []byte(h.Script))
	if err != nil {
		return nil, o, fmt.Errorf("the script in the trace's header: %w", err)
	}
	s, err := fromScript(f, true)
	if err != nil {
		return nil, o, fmt.Errorf("the script in the trace's header: %w", err)
	}
	o.Seed, o.Strategy, o.Mix, o.Interleave = h.Seed, h.Strategy, nil, InterleaveOff
	if Interleaves(&h) {
		o.Interleave = InterleaveOn
	}
	if h.Mix != nil {
		mix, err := fault.ParseMix(h.Mix)
		if err != nil {
			return nil, o, fmt.Errorf("the trace's header: %w", err)
		}
		o.Mix = &mix
	}
	return s, o, nil
}

// Replay repeats the run of a trace and compares every step. A *sim.DivergedError means that the run differs from the trace, a
// *sim.TraceError that the file is broken.
func Replay(ctx context.Context, r *sim.TraceReader, o Options) (*Result, error) {
	h := r.Header()
	s, o, err := OfTrace(h, o)
	if err != nil {
		return nil, err
	}
	replay := sim.NewReplay(r)
	res, err := hosted(ctx, s, &o, h, replay, replay)
	var stuck stuckError
	switch {
	case errors.As(err, &stuck) && replay.Done():
		return res, &sim.DivergedError{Step: res.Steps + 1, Why: fmt.Sprintf("the trace ends here (%s), but the run goes on", r.End().Verdict)}
	case err != nil:
		return res, err
	}
	return res, replay.Finish()
}

// Followed is what came of following a trace.
type Followed struct {
	*Result
	Scenario *Scenario
	// Diverged is the first difference from the trace, nil if there was none. What came after it was not compared.
	Diverged *sim.DivergedError
	// Strayed is the first step at which the strategy would have picked something else than the trace, 0 for none: see
	// sim.Replay.Strayed.
	Strayed uint64
	// End is the trace's end line, nil if it has none.
	End *sim.TraceEnd
	// Cut says what the file lacks at its end, nil if it is complete.
	Cut *sim.TraceError
	// Early reports that the trace ended before its run was over, and the replay with it.
	Early bool
}

// Follow is Replay for a program that may have changed since the trace was written: after the first difference the run goes on from
// the trace's seed, as if it had been made with Run. A trace without its end is followed as far as it goes. The result is there
// even if the run ended with an error, unless it did not begin.
func Follow(ctx context.Context, r *sim.TraceReader, o Options) (*Followed, error) {
	h := r.Header()
	s, o, err := OfTrace(h, o)
	if err != nil {
		return nil, err
	}
	strategy, err := o.strategy()
	if err != nil {
		return nil, err
	}
	replay := sim.NewReplay(r)
	replay.Then(strategy)
	res, err := hosted(ctx, s, &o, h, replay, replay)
	if res == nil {
		return nil, err
	}
	f := &Followed{Result: res, Scenario: s, Diverged: replay.Diverged(), Strayed: replay.Strayed()}
	f.Cut, f.Early = replay.EndedEarly()
	if err != nil && (!f.Early || !errors.As(err, new(stuckError))) {
		return f, err
	}
	if f.Diverged == nil && !f.Early {
		err := replay.Finish()
		if !errors.As(err, &f.Diverged) && err != nil && !f.cutOff(err) {
			return f, err
		}
	}
	if err := r.Skip(); err != nil && !f.cutOff(err) {
		return f, err
	}
	f.End = r.End()
	return f, nil
}

// cutOff reports whether an error says that the trace lacks its end.
func (f *Followed) cutOff(err error) bool {
	var broken *sim.TraceError
	if !errors.As(err, &broken) || broken.Cut == sim.NotCut {
		return false
	}
	f.Cut = broken
	return true
}
