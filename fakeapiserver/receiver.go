package fakeapiserver

import (
	"k8s.io/apimachinery/pkg/runtime"
)

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
