package properties

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/sim"
)

// streamingListTracker knows which frames are part of a streaming list (I14): the client holds them back until the list ends
// (I15), and then takes it as a whole (I16).
type streamingListTracker struct {
	inFlight byActor[watchIDs] // by informer
}

type watchIDs struct{ ids map[int64]bool }

// request notes a watch that starts with a list.
func (s *streamingListTracker) request(w World, r *sim.Record) {
	if kind, _ := askedFor(r); kind != askStream {
		return
	}
	if id, ok := watcherOf(w, r); ok {
		of := s.inFlight.get(id)
		if of.ids == nil {
			of.ids = map[int64]bool{}
		}
		of.ids[r.N] = true
	}
}

// contains reports whether a frame for that informer is part of a streaming list, including the bookmark that ends it.
func (s *streamingListTracker) contains(id sim.ActorID, frame *sim.Record) bool {
	of := s.inFlight.get(id)
	if !of.ids[frame.N] {
		return false
	}
	if frame.Detail == string(watch.Bookmark) && endsInitialEvents(frame.Obj) {
		delete(of.ids, frame.N)
	}
	return true
}

// endsInitialEvents reports whether a bookmark ends the list; others only carry the server's revision.
func endsInitialEvents(bookmark any) bool {
	m, ok := bookmark.(interface{ GetAnnotations() map[string]string })
	return ok && m.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
}
