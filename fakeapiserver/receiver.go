package fakeapiserver

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver/store"
)

// Event is a frame of a watch.
type Event struct {
	Type watch.EventType
	// Object is shared with the Store: not to be changed. It is a *metav1.Status if Type is ERROR.
	Object runtime.Object
	Memo   *store.Memo // the object's; nil if it has none
	Key    string      // "namespace/name"; "" of bookmarks and errors
	Rev    int64       // the object's resourceVersion
}

// Receiver is told what comes of a client's requests, inside the step that delivers it.
type Receiver interface {
	OnList(req ReqID, page *Page, err error)
	OnWatchOpened(req ReqID)
	OnWatchOpenError(req ReqID, err error)
	OnEvent(req ReqID, e Event)
	// OnWatchClosed tells the end of an open watch: err is nil if the server ended it cleanly, io.ErrUnexpectedEOF or
	// ECONNRESET if the connection broke.
	OnWatchClosed(req ReqID, err error)
	OnWrite(req ReqID, obj runtime.Object, err error)
}

// Breakage says how a frame breaks on the wire.
type Breakage uint8

const (
	// CutFrame ends the connection somewhere in the bytes of the frame.
	CutFrame Breakage = iota + 1
	// CutLength ends it in the length before the frame (or in its first byte, where frames have no length).
	CutLength
	// Garbage sends bytes in place of the frame that are not one; the connection goes on.
	Garbage
)

// WireReceiver is a Receiver that has bytes to break: it is told of the frame that breaks, and how, and what its client makes
// of that is the client's. A Receiver that is none is told what the decoder of a client would have said.
type WireReceiver interface {
	Receiver
	OnBrokenFrame(req ReqID, e Event, how Breakage)
}
