package world

import (
	"net/http"
	"slices"
	"time"

	"github.com/informersim/informersim/world/wellbehaved"
)

// ends deletes what the test has made and makes it anew, twice while controllers watch and then once their watches of it have ended, so that a list tells of its end, for the property NoLostDeletion. What they
// have made of it before may not be what they make of one that is as it was made: it may have been changed, and what they did may have been undone.
func (b *wellBehaved) ends() {
	if !b.asked(wellbehaved.NameDeletion) {
		return
	}
	for _, x := range alone(b, b.replaceable()) {
		path, body := b.remaking(x)
		acts := 0 // what controllers have done about its last end
		for n, unseen := range []bool{false, false, true} {
			m := b.object(x.probed)
			if b.over() || !removable(m) || n > 0 && acts == 0 {
				break // a controller holds the new one, or the API refuses it; or there is nothing to be seen
			}
			b.w.stopFaults()
			if unseen {
				b.inject(b.endOfWatches(x.resource))
			}
			acts = b.acts
			b.removeSoon(path+"/"+x.name, m.GetUID())
			b.w.goOn(probeTime)
			acts = b.acts - acts
			if unseen {
				b.w.goOn(b.rest())
			}
			if b.over() || b.object(x.probed) != nil {
				break // somebody else has made it
			}
			b.w.kernel.Clock().AfterFunc(time.Millisecond, func() { b.serve(http.MethodPost, path, "application/json", body) })
			b.w.goOn(probeTime)
		}
		b.recognize(x)
	}
}

// recognize takes what was made anew for what the test has made. It goes by the name: the same object may have been made anew before, since what is to be tried was chosen.
func (b *wellBehaved) recognize(x belonging) {
	m := b.object(x.probed)
	for n, y := range slices.Backward(b.theirs) {
		if m != nil && y.probed == x.probed {
			b.theirs[n].uid = m.GetUID()
			return // the ones before it have gone
		}
	}
}
