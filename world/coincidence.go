package world

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wellbehaved"
)

// postponed is by how much later a run does something to controllers when it is made once more. Nobody has a time of that length, and whoever looks at something once in an hour, or lets a backoff end
// after that, has done so by then.
const postponed = time.Hour + 7*time.Minute + 13*time.Second

// confirmations is how often a seed is run once more, each time with what the run does done later, as long as these runs accuse one controller after the other.
const confirmations = 3

// playSurely makes the run of a seed. If a controller seems to write something since the run has done something, that may be a coincidence: it may have waited for its time, such as half an hour after a
// change. Then the run is made once more with that done later, and what is not found there does not count, unless that run takes too many steps.
func (r *runner) playSurely(h sim.Header) *outcome {
	res := knowing(r.play, source{header: h})
	r.note(res)
	for n := 0; n < confirmations && r.mayCoincide(res); n++ {
		again := knowing(r.play, source{header: postpone(res.header)})
		if confirms(again, res) {
			return res
		}
		r.note(again)
		res = again
	}
	return res
}

// knowing makes a run. If a controller writes something once a get of its fails, or a list is late, it may do so anyway: then the run is made once more, and goes the same way up to there, but the get is answered, or the
// list comes at once. What is written there, too, does not count, and the run is made anew with that known, since it has ended with what does not count.
func knowing(play func(source) *outcome, from source) *outcome {
	res := play(from)
	if known := know(play, from, res); known != nil {
		return play(*known)
	}
	return res
}

// compared are the properties that compare a run with one that is spared.
var compared = []string{wellbehaved.NameAbsence, wellbehaved.NameHasty, wellbehaved.NameStaleDelete}

// know returns what the run that has been made from a source is to be made from in place of that, with what controllers write anyway; nil if that need not be known, or is nothing.
func know(play func(source) *outcome, from source, res *outcome) *source {
	if v := res.violation; v == nil || !slices.Contains(compared, v.Property) || from.header.Options[optionAnyway] != "" {
		return nil
	}
	spared := from
	spared.header = withOption(from.header, optionSpared, strconv.FormatBool(true))
	anyway := play(spared).anyway
	if len(anyway) == 0 {
		return nil
	}
	from.header = withOption(from.header, optionAnyway, listed(anyway))
	return &from
}

// withOption returns a header with one more option.
func withOption(h sim.Header, name, value string) sim.Header {
	h.Options = maps.Clone(h.Options)
	h.Options[name] = value
	return h
}

// mayCoincide reports whether what a run has found counts only if a run that does the same to controllers later finds it, too.
func (r *runner) mayCoincide(res *outcome) bool {
	v := res.violation
	return v != nil && slices.Contains(wellbehaved.Answering, v.Property) && res.escaped == nil && !res.testFailed && !res.stuck && r.peer.gone == nil
}

// postpone returns the header of the run that does later what it does to controllers.
func postpone(h sim.Header) sim.Header {
	later, _ := time.ParseDuration(h.Options[optionLater]) // 0 where there is none
	return withOption(h, optionLater, (later + postponed).String())
}

// confirms reports whether what a run has found counts after the one that does later what it does to controllers.
func confirms(later, res *outcome) bool {
	v := later.violation
	return later.err != nil || v != nil && (v.Property == nameLivelock || sameVerdict(v, res.violation))
}

// sameVerdict reports whether two runs break the same property, and if it is a ready-made one, for the same client, or an object of the same kind: its messages begin with what they accuse.
func sameVerdict(v, w *reports.Violation) bool {
	if v.Property != w.Property {
		return false
	}
	accused, _, _ := strings.Cut(v.Message, " ")
	other, _, _ := strings.Cut(w.Message, " ")
	return accused == other || !slices.Contains(wellbehaved.Names, v.Property)
}

// surely makes a run that is tried once more, if it may break its property by coincidence, and returns what breaks it surely; nil if neither does. The second one goes the same way until its body ends: up to
// then, nothing in it comes later. Where the first breaks it by coincidence, before it comes to what was found, or accuses another, that one is the simpler run, and so are those that follow it.
func (s *shrinker) surely(res *outcome, from source) *outcome {
	if !s.r.mayCoincide(res) {
		return s.ifSame(res)
	}
	if known := know(s.try, from, res); known != nil {
		from = *known
		if res = s.try(from); !s.r.mayCoincide(res) {
			return s.ifSame(res)
		}
	}
	header := from.header
	from.header, from.maxSteps = postpone(header), 0
	later := s.try(from)
	if s.same(res) && confirms(later, res) {
		s.header = header
		return res
	}
	if later = s.ifSame(later); later != nil {
		s.header = from.header
	}
	return later
}

// ifSame returns a run that breaks the same, or nil.
func (s *shrinker) ifSame(res *outcome) *outcome {
	if s.same(res) {
		return res
	}
	return nil
}

// replayCoincides says why a kept trace, which still breaks what it did, may do so by coincidence, "" if it does not: an informersim may have kept it that knew none, or another judgement of the property has
// confirmed it.
func (r *runner) replayCoincides(res *outcome) string {
	if res.replay != nil || !r.mayCoincide(res) {
		return ""
	}
	picks, err := res.picks()
	if err != nil {
		return ""
	}
	from := source{header: res.header, picks: &picks}
	if known := know(r.play, from, res); known != nil && !confirms(r.play(*known), res) {
		return "but what it is about is done, too, if the read that fails, comes late or is old is answered at once"
	}
	from.header = postpone(from.header)
	if !confirms(r.play(from), res) {
		return fmt.Sprintf("but not if the run leaves controllers alone for %v longer before it does something to them", postponed)
	}
	return ""
}
