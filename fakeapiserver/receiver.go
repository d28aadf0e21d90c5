package fakeapiserver

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// Receiver gets the outcomes of a client's requests, inside the steps that deliver them.
type Receiver interface {
	OnList(req ReqID, page *Page, err error)
	OnWatchOpened(req ReqID)
	OnWatchOpenError(req ReqID, err error)
	OnEvent(req ReqID, e Event)
	// OnWatchClosed ends an open watch: err is nil if the server ended it cleanly, io.ErrUnexpectedEOF, ECONNRESET or
	// ErrConnectionLost if the connection broke.
	OnWatchClosed(req ReqID, err error)
	OnWrite(req ReqID, obj runtime.Object, err error)
}

// Answerer is a Receiver that makes answers of its own out of a request's outcome, as an HTTP server does. Answered is called before
// the outcome is received, and says for its record what that answer is: "409 Conflict: …". It returns "" if the record says it all.
type Answerer interface {
	Answered(page *Page, err error) string
}

// Preparer is a Receiver that cannot send everything that it receives, as an HTTP server that must convert objects. It is called before what is
// sent is recorded. A page for which it returns an error, which must be a Status, is answered with that; a watch whose next event cannot be
// sent ends in good order.
type Preparer interface {
	PreparePage(page *Page) error
	PrepareEvent(e *Event) error
}
