package scenarios

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects/informers"
)

// Exhaustive is the strategy that makes every run of a scenario, within Options.Bounds.
const Exhaustive = "exhaustive"

// Bounds limit the runs of the strategy exhaustive.
type Bounds struct {
	// Faults is how many faults of the mix happen in a run, at most.
	Faults int
	// Early is how often time passes in a run, at most, although something else could happen.
	Early int
	// Within is how far time passes then, at most: to a timer that is due by then.
	Within time.Duration
	// Delays is how many actors are delayed in a run, at most: from then on such an actor makes a step only while no other can. Below 0,
	// everything may happen at any time, which is many more runs.
	Delays int
	// Steps is the length of a run after which it only goes on as under fifo.
	Steps int
	// States is how many states are looked at, at most.
	States int
}

// DefaultBounds are the bounds of a search whose Options have none.
var DefaultBounds = Bounds{Faults: 1, Early: 1, Within: 45 * time.Second, Delays: 2, Steps: 1000, States: 5_000_000}

// A SearchError means that a search ended before it had made all runs within its bounds. None of those it made breaks a property.
type SearchError struct {
	Search reports.Search
	Err    error
}

func (e *SearchError) Error() string {
	return fmt.Sprintf("the search is not finished: %v; so far %s, and nothing is broken; give it more time or states, or lower bounds", e.Err, e.Search)
}

// Unwrap returns what ended the search.
func (e *SearchError) Unwrap() error { return e.Err }

// searched makes every run within the bounds, until one breaks a property. The result, and the trace, is that of the run that does, or of
// the last one.
func searched(ctx context.Context, s *Scenario, o *Options, header sim.Header) (*Result, error) {
	bounds := o.Bounds
	if bounds == (Bounds{}) {
		bounds = DefaultBounds
	}
	if o.Mix == nil {
		bounds.Faults = 0
	}
	search := sim.NewSearch(sim.SearchOptions{
		Faults: bounds.Faults, Early: bounds.Early, Within: bounds.Within, Delays: bounds.Delays, Depth: bounds.Steps, States: bounds.States,
		Effect: s.effects(), Component: component, Shared: serves,
	})
	err := allRuns(ctx, s, o, header, search)
	stats := search.Stats()
	summary := reports.Search{
		States: stats.States, Runs: stats.Runs, Cut: stats.Cut, Steps: stats.Steps, Longest: stats.Depth,
		Faults: bounds.Faults, Early: bounds.Early, Delays: bounds.Delays, Depth: bounds.Steps,
	}
	switch {
	case errors.Is(err, sim.ErrTooManyStates), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return nil, &SearchError{summary, err}
	case err != nil:
		return nil, err
	}
	res, err := hosted(ctx, s, o, header, search.Again(), nil)
	if res != nil {
		summary.Finished = res.Violation == nil && search.Whole()
		res.Search = &summary
	}
	return res, err
}

// allRuns makes the runs of a search, until one breaks a property.
func allRuns(ctx context.Context, s *Scenario, o *Options, header sim.Header, search *sim.Search) error {
	silent := *o
	silent.Trace = nil
	for strategy := search.Next(); strategy != nil; strategy = search.Next() {
		res, err := hosted(ctx, s, &silent, header, strategy, nil)
		if res == nil {
			return err
		}
		search.Ended(res.Steps)
		switch {
		case errors.Is(err, sim.ErrSeen):
			if err := ctx.Err(); err != nil {
				return err
			}
		case err != nil || res.Violation != nil:
			return err
		}
	}
	return nil
}

// component puts an informer and its connection together: what one delivers, the other has.
func component(actor string) string { return strings.TrimPrefix(actor, "conn/") }

// serves tells whether a component is a part of the server, whose state answers are made from.
func serves(component string) bool {
	return component == "cluster" || strings.HasPrefix(component, "replica/")
}

// effects returns what the steps of the scenario read and change, as a search needs it.
func (s *Scenario) effects() func(*sim.Kernel, sim.Choice) sim.Effect {
	handlers, heals, any := sim.Timeless, sim.TouchesOwn, false
	for _, c := range s.cmds {
		switch c := c.Command.(type) {
		case *faultCmd:
			any = any || c.payload != nil // a trigger: what one part does is felt by another
		case *holdCmd:
			heals = sim.TouchesAll
		case *workerCmd, *callFaultCmd:
			handlers = sim.TouchesAll // they fill the queues of workers, and may be slow
		}
	}
	return func(_ *sim.Kernel, c sim.Choice) sim.Effect {
		switch c.Kind {
		case kindCommand:
			if any {
				break
			}
			if int(c.Target) == len(s.cmds) { // the end of faults and holds
				return heals
			}
			if w, ok := s.cmds[c.Target].Command.(*writeCmd); ok && w.by == "" {
				return sim.TouchesOwn
			}
		case fakeapiserver.KindRespond, fakeapiserver.KindDeliver, informers.KindWake:
			if !any {
				return sim.TouchesOwn
			}
		case fakeapiserver.KindApply, informers.KindPop:
			if !any {
				return sim.Timeless
			}
		case informers.KindHandle:
			if !any {
				return handlers
			}
		case fakeapiserver.KindAdmit:
			return sim.ReadsShared
		default:
			switch spec := fault.SpecOfChoice(c.Kind); {
			case spec == nil || any || spec.Stage == fault.OnStore || spec.Stage == fault.OnReplica:
			case spec.Stage == fault.OnStream:
				return sim.TouchesOwn
			default:
				return sim.ReadsShared
			}
		}
		return sim.TouchesAll
	}
}
