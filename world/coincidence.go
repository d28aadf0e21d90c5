package world

import (
	"maps"
	"slices"
	"time"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wellbehaved"
)

// postponed is by how much later a run does something to controllers when it is made once more. Nobody has a time of that length, and whoever looks at something once in an hour, or lets a backoff end
// after that, has done so by then.
const postponed = time.Hour + 7*time.Minute + 13*time.Second

// playSurely makes the run of a seed. If a controller seems to write something since the run has done something, that may be a coincidence: it may have waited for its time, such as half an hour after a
// change. Then the run is made once more with that done later, and what is not found there does not count, unless that run takes too many steps.
func (r *runner) playSurely(h sim.Header) *outcome {
	res := r.play(source{header: h})
	r.note(res)
	if v := res.violation; v == nil || !slices.Contains(wellbehaved.Answering, v.Property) || res.escaped != nil || res.testFailed || res.stuck || r.peer.gone != nil {
		return res
	}
	h.Options = maps.Clone(h.Options)
	h.Options[optionLater] = postponed.String()
	again := r.play(source{header: h})
	if again.err != nil || again.violation != nil && (again.violation.Property == res.violation.Property || again.violation.Property == nameLivelock) {
		return res
	}
	r.note(again)
	return again
}
