package world

import (
	"slices"

	"github.com/informersim/informersim/world/wellbehaved"
)

// deleteRevived deletes what was brought back, unless another probe has, and restarts all controllers, for the property NoRevival: who wants it to be there makes it again.
func (b *wellBehaved) deleteRevived() {
	if b.over() || len(b.revived) == 0 || !b.asked(wellbehaved.NameRevival) || !b.w.config.restarts || !b.crashable() {
		return
	}
	revived := slices.DeleteFunc(slices.Clone(b.made), func(x making) bool {
		m := b.object(x.probed)
		return !slices.Contains(b.revived, x.uid) || m == nil || m.GetUID() != x.uid || m.GetDeletionTimestamp() != nil
	})
	b.conclude(probeRevivals)
	b.w.stopFaults()
	for _, x := range revived {
		b.removeSoon(x.path+"/"+x.name, x.uid)
	}
	b.w.goOn(probeTime)
	b.restartAll()
}
