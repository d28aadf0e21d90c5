package fakeapiserver

import (
	"fmt"
	"slices"
	"strings"
)

// SetHeld holds or releases a replica or a client: a held "replica/1" applies nothing, a held "conn/NAME" gets no frames of
// its open watches. Holds are counted, together with those of faults.
func (c *Cluster) SetHeld(target string, held bool) error {
	if strings.HasPrefix(target, "replica/") {
		r, err := c.replicaNamed(target)
		if err != nil {
			return err
		}
		if held {
			r.Hold()
		} else {
			r.Release()
		}
		return nil
	}
	cl := c.byName[strings.TrimPrefix(target, "conn/")]
	if cl == nil {
		return fmt.Errorf("fakeapiserver: there is no connection %q", target)
	}
	for _, k := range cl.calls {
		if k.watch == nil || !k.watch.open {
			continue
		}
		if held {
			k.watch.holds++
			k.watch.block(0)
		} else if k.watch.holds > 0 {
			k.watch.holds--
			k.watch.unblock()
		}
	}
	return nil
}

// KeepsBack reports whether a hold or a fault keeps the frames of a client's open watch from it, or the watch is over.
func (c *Cluster) KeepsBack(client string, watch ReqID) bool {
	cl := c.byName[client]
	if cl == nil {
		return false
	}
	k := cl.find(watch)
	return k == nil || k.watch == nil || k.watch.blocked > 0 || k.watch.closing != nil
}

// Behind reports whether an open watch of a client has still to show it something that was committed: a lagging replica has not applied it, or it is under way, or kept back. One whose connection is dead may have
// missed anything.
func (c *Cluster) Behind(client string) bool {
	cl := c.byName[client]
	return cl != nil && slices.ContainsFunc(cl.calls, func(k *call) bool {
		switch s := k.watch; {
		case s == nil || s.closing != nil:
			return false
		case s.dead:
			return true // and its history may be gone
		default:
			return s.cache.sourcePos < s.cache.source.End() || len(s.initial) > 0 || len(s.resend) > 0 || s.seek()
		}
	})
}
