package world

import "slices"

// remove deletes, one at a time, what looks like one child too many, for the property NoStaleCreate: whoever wants as many makes others.
func (b *wellBehaved) remove() {
	if len(b.unwanted) == 0 || b.over() {
		return
	}
	b.conclude(probeDoubles)
	b.probing = true
	for _, uid := range b.unwanted {
		if n := slices.IndexFunc(b.made, func(x making) bool { return x.uid == uid }); n >= 0 && !b.over() {
			b.w.stopFaults()
			b.removeSoon(b.made[n].path+"/"+b.made[n].name, uid)
			b.w.goOn(probeTime)
		}
	}
	b.probing = false
	b.unwanted = nil
	b.conclude(probeDoubles + 1)
}
