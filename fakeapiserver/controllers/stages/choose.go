package stages

import (
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

// Matches reports whether an object, as JSON decodes it, is one that the Stage is for. The caller has checked the kind.
func (s *Stage) Matches(object map[string]any) bool {
	meta, _ := object["metadata"].(map[string]any)
	if !s.labels.Matches(set(meta["labels"])) || !s.annotations.Matches(set(meta["annotations"])) {
		return false
	}
	for i := range s.expressions {
		if !s.expressions[i].matches(object) {
			return false
		}
	}
	return true
}

func set(v any) labels.Set {
	m, _ := v.(map[string]any)
	out := make(labels.Set, len(m))
	for k, v := range m { // order: a map is copied
		out[k], _ = v.(string)
	}
	return out
}

// Choose returns which of the Stages that match an object is next; nil if none does. Several are drawn from by weight, or with equal
// chances if none of them has one. draw returns a number below n.
func Choose(all []*Stage, object map[string]any, draw func(n int) int) *Stage {
	var matching []*Stage
	var weights []int
	total := 0
	for _, s := range all {
		if s.Matches(object) {
			w := s.weightFor(object)
			matching, weights, total = append(matching, s), append(weights, w), total+w
		}
	}
	switch {
	case len(matching) == 0:
		return nil
	case len(matching) == 1:
		return matching[0]
	case total == 0:
		return matching[draw(len(matching))]
	}
	at := draw(total)
	for i, s := range matching {
		if at -= weights[i]; at < 0 {
			return s
		}
	}
	return nil // not reached
}

// What makes a Stage likely: its weight, and how much sooner than it says it comes.
const (
	likelier = 20
	sooner   = 10
)

// Likely returns the Stages with one that happens to most objects that it is for, and soon: a rare one hardly ever does in the minutes of a test. The
// others are as they were. Without a Stage of that name, nothing differs.
func Likely(all []*Stage, name string) []*Stage {
	out := slices.Clone(all)
	for i, s := range out {
		if s.Name == name {
			c := *s
			c.weight.fixed *= likelier
			c.delay.fixed /= sooner
			c.jitter.fixed /= sooner
			out[i] = &c
		}
	}
	return out
}

// maxWeight bounds what an object may ask for.
const maxWeight = 1 << 20

func (s *Stage) weightFor(object map[string]any) int {
	if s.weight.from != nil {
		if n, err := strconv.Atoi(s.weight.from.first(object)); err == nil && n >= 0 {
			return min(n, maxWeight)
		}
	}
	return min(s.weight.fixed, maxWeight)
}

// Delay returns how long the Stage takes for an object, from now on. With a jitter longer than the duration, it is drawn from between the
// two. draw returns a number below n.
func (s *Stage) Delay(object map[string]any, now time.Time, draw func(n int) int) time.Duration {
	d := s.delay.length(object, now)
	if !s.jitter.set {
		return d
	}
	j := s.jitter.length(object, now)
	if j <= d {
		return j
	}
	ms := int((j - d) / time.Millisecond)
	if ms == 0 {
		return d
	}
	return d + time.Duration(draw(ms))*time.Millisecond
}

func (s *span) length(object map[string]any, now time.Time) time.Duration {
	if s.from == nil {
		return s.fixed
	}
	text := s.from.first(object)
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return min(max(at.Sub(now), 0), maxDelay)
	}
	if d, err := time.ParseDuration(text); err == nil {
		return min(max(d, 0), maxDelay)
	}
	return s.fixed
}
