package world

import (
	"bytes"
	"slices"
	"strings"

	"github.com/informersim/informersim/world/wellbehaved"
)

// usersOf returns what the test has made, nothing holds, and has the name of one of some objects as a value: it may be what these are kept for.
func (b *wellBehaved) usersOf(keys []string) (all []belonging) {
	for _, key := range keys {
		_, object, _ := strings.Cut(key, " ")
		name := object[strings.LastIndexByte(object, '/')+1:]
		for _, x := range b.theirs {
			m := b.object(x.probed)
			if !removable(m) || m.GetUID() != x.uid || slices.Contains(keys, x.key()) || slices.ContainsFunc(all, func(y belonging) bool { return y.uid == x.uid }) {
				continue
			}
			if fields := asJSON(m); bytes.Contains(fields, []byte(`"`+name+`"`)) || bytes.Contains(fields, []byte(`/`+name+`"`)) {
				all = append(all, x)
			}
		}
	}
	return all
}

// release deletes these, for the property NoFinalizerLeft: who keeps an object for as long as it is used takes its finalizer off then.
func (b *wellBehaved) release() {
	if len(b.users) == 0 || b.over() {
		return
	}
	b.conclude(b.goingOn()...)
	b.probing = true
	b.w.stopFaults()
	for _, x := range b.users {
		for _, r := range b.resources(x.resource) {
			if m := b.object(x.probed); removable(m) && m.GetUID() == x.uid {
				b.removeSoon(resourcePath(r.GroupVersionResource(), r.Namespaced, x.namespace)+"/"+x.name, x.uid)
			}
		}
	}
	b.w.goOn(probeTime)
	b.probing = false
	b.users = nil
	b.conclude(b.goingOn()...)
}

// findUsers finds what may be the reason why finalizers still keep objects.
func (b *wellBehaved) findUsers() {
	if b.kept != nil && b.asked(wellbehaved.NameFinalizer) {
		b.users = b.usersOf(b.kept(b.w))
	}
}
