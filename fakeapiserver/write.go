package fakeapiserver

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/store"
)

// WriteVerb is what a Write does.
type WriteVerb string

const (
	Create WriteVerb = "create"
	Update WriteVerb = "update"
	Delete WriteVerb = "delete"
)

// Write is a change that a client asks for.
type Write struct {
	Verb     WriteVerb
	Resource store.ResourceID
	// Object is the new state, of create and update; it is copied when the request is served.
	Object runtime.Object
	// Namespace and Name say what is deleted.
	Namespace, Name string
	// Preconditions must hold for a delete.
	Preconditions *metav1.Preconditions
	// Serve, if set, is what the replica does when the request is admitted, whatever Verb says: layers above that know more of
	// an API's rules than create, update and delete go through connections and their faults this way.
	Serve func() (runtime.Object, error)
}

func (w *Write) describe() string {
	namespace, name := w.Namespace, w.Name
	if m, err := store.Meta(w.Object); err == nil {
		namespace, name = m.GetNamespace(), m.GetName()
	}
	if namespace != "" {
		name = namespace + "/" + name
	}
	return string(w.Verb) + " " + name
}
