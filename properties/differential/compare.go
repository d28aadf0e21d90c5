package differential

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/subjects"
)

// Difference is the first thing in which two runs differ.
type Difference = reports.Difference

// Compare runs a scenario on both sides and returns the first difference that is not allowed, or nil. A side that does not come to
// its end, because it panics, hangs, leaks goroutines or tries again for ever, is a difference whatever the other one does. What one of
// them cannot say is not compared.
func Compare(ctx context.Context, s *scenarios.Scenario, left, right subjects.Kind, seed uint64) (*Difference, error) {
	lacks := maps.Clone(left.Lacks)
	if lacks == nil {
		lacks = map[subjects.Feature]string{}
	}
	maps.Copy(lacks, right.Lacks)
	a, err := observe(ctx, s, left, seed, lacks)
	if err != nil {
		return nil, err
	}
	b, err := observe(ctx, s, right, seed, lacks)
	if err != nil {
		return nil, err
	}
	if a.broken != nil || b.broken != nil {
		return &Difference{
			Point: min(len(a.points), len(b.points)) + 1, Command: "the end", Topic: "end of the run", Sides: [2]string{left.Name, right.Name},
			Left: []string{a.ending()}, Right: []string{b.ending()},
		}, nil
	}
	for i := range max(len(a.points), len(b.points)) {
		if i >= len(a.points) || i >= len(b.points) {
			return &Difference{
				Point: i + 1, Command: "the end", Topic: "quiescent points", Sides: [2]string{left.Name, right.Name},
				Left: []string{fmt.Sprint(len(a.points))}, Right: []string{fmt.Sprint(len(b.points))},
			}, nil
		}
		if d := comparePoints(&a.points[i], &b.points[i]); d != nil {
			d.Point, d.Sides = i+1, [2]string{left.Name, right.Name}
			return d, nil
		}
	}
	return nil, nil
}

// ending says how a run ended.
func (o *observation) ending() string {
	if o.broken == nil {
		return "it comes to its end"
	}
	return o.broken.Error()
}

func comparePoints(a, b *point) *Difference {
	if a.at != b.at || a.command != b.command {
		return &Difference{
			Command: a.command, Topic: "progress of the run",
			Left: []string{fmt.Sprintf("%s at %v", a.command, a.at)}, Right: []string{fmt.Sprintf("%s at %v", b.command, b.at)},
		}
	}
	topics := slices.Clone(a.order)
	for _, t := range b.order {
		if _, ok := a.topics[t]; !ok {
			topics = append(topics, t)
		}
	}
	for _, t := range topics {
		l, r := a.topics[t], b.topics[t]
		if t == "synced" {
			// Which of them syncs first between two points depends on the number of steps.
			l, r = slices.Sorted(slices.Values(l)), slices.Sorted(slices.Values(r))
		}
		if slices.Equal(l, r) || allowed(t, l, r) {
			continue
		}
		return &Difference{Command: a.command, Topic: t, Left: l, Right: r}
	}
	return nil
}

// A Rule allows a difference.
type Rule struct {
	Name   string
	Reason string
	// Applies reports whether two different sequences of a topic differ in nothing else.
	Applies func(topic string, left, right []string) bool
}

// Allowed lists the allowed differences, each with the reason why neither side is wrong.
var Allowed = []Rule{
	{
		Name: "initial",
		Reason: "The objects of a streaming list have no order in client-go, so its adapter pops them in one step. A frame that arrives between " +
			"the pops elsewhere arrives after them there, and an object that is added again is then no longer part of the first list.",
		Applies: func(topic string, left, right []string) bool {
			added := false
			return strings.HasPrefix(topic, "handler ") && slices.EqualFunc(left, right, func(l, r string) bool {
				again := added
				added = added || strings.HasPrefix(l, "add ")
				return l == r || again && strings.TrimSuffix(l, " initial") == strings.TrimSuffix(r, " initial")
			})
		},
	},
	{
		Name: "removed",
		Reason: "A listener of client-go's that rests after a panic has taken its next notification already, and makes that call although it is removed " +
			"meanwhile; ours drops it (I81).",
		Applies: func(topic string, left, right []string) bool {
			onTime := func(lines []string) []string {
				return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.HasSuffix(line, takenBefore) })
			}
			return strings.HasPrefix(topic, "handler ") && slices.Equal(onTime(left), onTime(right))
		},
	},
}

func allowed(topic string, left, right []string) bool {
	return slices.ContainsFunc(Allowed, func(r Rule) bool { return r.Applies(topic, left, right) })
}
