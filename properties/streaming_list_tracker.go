package properties

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/sim"
)

// streamingListTracker knows which frames are part of a list that comes as a watch (I14): until its end the client keeps
// them for itself (I15), and then takes the list as a whole (I16).
type streamingListTracker struct {
	underWay byActor[watchIDs] // by informer
}

type watchIDs struct{ ids map[int64]bool }

// request notes a watch that begins with a list.
func (s *streamingListTracker) request(w World, r *sim.Record) {
	if !strings.Contains(r.Detail, "sendInitialEvents=true") {
		return
	}
	if id, ok := watcherOf(w, r); ok {
		of := s.underWay.get(id)
		if of.ids == nil {
			of.ids = map[int64]bool{}
		}
		of.ids[r.N] = true
	}
}

// has tells whether a frame for that informer is part of such a list, the bookmark that ends it included.
func (s *streamingListTracker) has(id sim.ActorID, frame *sim.Record) bool {
	of := s.underWay.get(id)
	if !of.ids[frame.N] {
		return false
	}
	if frame.Detail == string(watch.Bookmark) && endsInitialEvents(frame.Obj) {
		delete(of.ids, frame.N)
	}
	return true
}

// endsInitialEvents tells whether a bookmark is the one that ends the list; others tell only how far the server is.
func endsInitialEvents(bookmark any) bool {
	m, ok := bookmark.(interface{ GetAnnotations() map[string]string })
	return ok && m.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
}
