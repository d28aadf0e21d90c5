package world

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wellbehaved"
)

// noteAnyway notes what a controller writes, in a run that is spared, once it has asked for what comes late or fails in the run that this one is compared with: that is not the reason.
func (b *wellBehaved) noteAnyway(r *sim.Record, q *wellbehaved.Request) {
	if !b.w.config.spared {
		return
	}
	x := cmp.Or(b.blinded, b.late, b.old)
	if x.client == "" || b.nameOf(r.Actor) != x.client {
		return
	}
	if a, is := r.Obj.(*fakeapiserver.Asked); r.Key == x.resource && (is && x != b.blinded && (!a.Watch || a.Streaming()) || x == b.blinded && strings.HasPrefix(r.Detail, "get ")) {
		b.looked = true
	}
	if !b.looked || q.Method == http.MethodGet {
		return
	}
	does := q.Blindly(x.client, r.Key)
	if x != b.blinded {
		does = q.Hastily(x.client)
	}
	if !slices.Contains(b.anyway, does) {
		b.anyway = append(b.anyway, does)
	}
}

// doesAnyway reports whether a client is known to write that, too, where nothing fails and nothing is late. A run that is to show that is not judged by it.
func (b *wellBehaved) doesAnyway(x wellbehaved.Writing) bool {
	return b.w.config.spared || slices.Contains(b.w.config.anyway, x)
}
