package world

import (
	"slices"
	"strings"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wellbehaved"
)

// noteTheirs notes which objects others than controllers have made.
func (b *wellBehaved) noteTheirs(r *sim.Record) {
	if b.probing || r.Detail != "ADDED" || wellbehaved.Bookkeeping(r.Key) || !b.asked(wellbehaved.NameRevival) {
		return
	}
	cl, _ := b.w.cluster.Serving()
	if b.theirs == nil {
		b.theirs = map[string]bool{}
	}
	if theirs := cl == nil || b.role(cl.Actor()) != wellbehaved.Controller; theirs || b.theirs[r.Key] {
		b.theirs[strings.Clone(r.Key)] = theirs
	}
}

// deleteRevived deletes what an apply has made in place of what somebody else had made and deleted, and restarts all controllers, for the property NoRevival: who wants it to be there makes it again.
func (b *wellBehaved) deleteRevived() {
	if b.over() || !b.asked(wellbehaved.NameRevival) || !b.w.config.restarts || !b.crashable() {
		return
	}
	revived := slices.DeleteFunc(slices.Clone(b.made), func(x making) bool {
		m := b.object(x.probed)
		return !x.revived || m == nil || m.GetUID() != x.uid || m.GetDeletionTimestamp() != nil
	})
	if len(revived) == 0 {
		return
	}
	b.conclude(wellbehaved.NameRevival)
	b.w.stopFaults()
	for _, x := range revived {
		b.removeSoon(x.path+"/"+x.name, x.uid)
	}
	b.w.goOn(probeTime)
	b.restartAll(b.restarted + 1)
}
