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
