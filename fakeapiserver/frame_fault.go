package fakeapiserver

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver/fault"
)

// frameFault is a fault that waits for the next frame of a watch.
type frameFault struct {
	fault     fault.Fault
	reordered *frame // held back by WatchReorder until the next frame has been sent
}

// hits reports whether the fault selects the frame.
func (ff *frameFault) hits(f *frame) bool {
	bookmark := f.event.Type == watch.Bookmark
	switch ff.fault.Kind {
	case fault.WatchBookmarkLost:
		return bookmark && !f.end
	case fault.WatchBookmarkLate:
		return bookmark
	case fault.WatchBookmarkEarly:
		return true // eligible only until the end of the initial events
	case fault.WatchNoEndBookmark, fault.WatchEndUnmarked:
		return f.end
	}
	if ff.fault.Kind == fault.WatchOldDelete && f.event.Type != watch.Deleted {
		return false
	}
	if ff.fault.Namespace == "" && ff.fault.Name == "" {
		return true
	}
	meta, ok := f.event.Object.(metav1.Object)
	return ok && !bookmark &&
		(ff.fault.Namespace == "" || ff.fault.Namespace == meta.GetNamespace()) &&
		(ff.fault.Name == "" || ff.fault.Name == meta.GetName())
}
