package fakeapiserver

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver/fault"
)

// frame is what a deliver brings to the client.
type frame struct {
	display string
	event   Event
	end     bool // the bookmark that ends the initial events
}

// mangling is a fault that waits for the next frame of a watch.
type mangling struct {
	fault fault.Fault
	held  *frame // of a reordering: the frame that comes after the next
}

// concerns tells whether the fault is about the frame.
func (m *mangling) concerns(f *frame) bool {
	bookmark := f.event.Type == watch.Bookmark
	switch m.fault.Kind {
	case fault.WatchBookmarkLost:
		return bookmark && !f.end
	case fault.WatchBookmarkLate:
		return bookmark
	case fault.WatchNoEndBookmark:
		return f.end
	}
	if m.fault.Namespace == "" && m.fault.Name == "" {
		return true
	}
	meta, ok := f.event.Object.(metav1.Object)
	return ok && !bookmark &&
		(m.fault.Namespace == "" || m.fault.Namespace == meta.GetNamespace()) &&
		(m.fault.Name == "" || m.fault.Name == meta.GetName())
}
