package fakeapiserver

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver/store"
)

// Event is a frame of a watch.
type Event struct {
	Type watch.EventType
	// Object is shared with the Store and must not be changed. It is a *metav1.Status if Type is ERROR.
	Object runtime.Object
	Memo   *store.Memo // the object's; nil if it has none
	Key    string      // "namespace/name"; "" of bookmarks and errors
	Rev    int64       // the object's resourceVersion
}
