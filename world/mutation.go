package world

import (
	"maps"
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
)

// detectorTime is how long another process of the test has for the run with client-go's mutation detector, in real time.
const detectorTime = 5 * time.Second

// askDetector makes the run of a seed that has failed once more, with client-go's mutation detector, and tells what that says with the failure: whoever changes what is in
// an informer's cache breaks something else first in most seeds, and the detector watches in every fourth. It ends the process, so another one makes the run.
func (r *runner) askDetector(res *outcome) {
	if !res.failed() || res.stuck || res.escaped != nil && res.escaped.skips || r.task.Shrink <= 0 || !r.canStartAgain() || r.o.MutationDetector < 0 || detectsMutations(&res.header) || r.host.Stopped() {
		return
	}
	h := res.header
	h.Options = maps.Clone(h.Options)
	delete(h.Options, optionShrunk)
	h.Options[optionDetect] = "true"
	o := &others{r: r, single: true, deadline: r.host.Now().Add(detectorTime)}
	defer o.close()
	other := o.play(source{header: h})
	said, _, _ := strings.Cut(other.crash, "\n")
	if !other.dead || !mutatedCache.MatchString(said) {
		return
	}
	res.run.Mutated = said
	res.conclude(func(c *reports.Conclusion) { c.Mutated = said })
}
