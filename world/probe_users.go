package world

import (
	"bytes"
	"slices"
	"strings"

	"github.com/informersim/informersim/scenarios/property"
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
			fields := asJSON(m)
			times := bytes.Count(fields, []byte(`"`+name+`"`)) + bytes.Count(fields, []byte(`/`+name+`"`))
			if x.name == name {
				times-- // its own
			}
			if times > 0 {
				all = append(all, x)
			}
		}
	}
	return all
}

// release deletes these, for the properties NoFinalizerLeft and NoLeftover: who keeps an object for as long as it is used lets it go then.
func (b *wellBehaved) release() {
	if len(b.users) == 0 || b.over() {
		return
	}
	b.conclude(probeUsers)
	b.probing = true
	b.w.stopFaults()
	for _, x := range b.users {
		if m := b.object(x.probed); removable(m) && m.GetUID() == x.uid {
			path, _ := b.place(x.probed)
			b.removeSoon(path+"/"+x.name, x.uid)
		}
	}
	b.w.goOn(probeTime)
	b.probing = false
	b.users, b.waiting = nil, nil
	b.conclude(probeUsers + 1)
}

// keeper is a property with what says which objects are left by it, or what they were made for.
type keeper struct {
	property string
	left     func(property.World) []string
}

// findUsers finds what may be the reason why such objects are left. The properties go on if there is anything.
func (b *wellBehaved) findUsers() {
	for _, k := range b.keepers {
		if !b.asked(k.property) {
			continue
		}
		if users := b.usersOf(k.left(b.w)); len(users) > 0 {
			b.waiting = append(b.waiting, k.property)
			b.users = append(b.users, users...)
		}
	}
}
