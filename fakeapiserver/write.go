package fakeapiserver

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/store"
)

// WriteVerb is the verb of a Write.
type WriteVerb string

const (
	Create WriteVerb = "create"
	Update WriteVerb = "update"
	Delete WriteVerb = "delete"
)

// Write is a change that a client requests.
type Write struct {
	Verb     WriteVerb
	Resource store.ResourceID
	// Object is the new state, for create and update; it is copied when the request is served.
	Object runtime.Object
	// Namespace and Name identify the object to delete.
	Namespace, Name string
	// Named, if set, returns the name of the object where the request's path has none: a create's body has it. It is called if a
	// fault or a trigger is aimed at a name.
	Named func() string
	// Note, if set, goes on where the record of the request ends, for readers of the trace: the name of the object, which a create's path lacks,
	// or "/" and the subresource.
	Note string
	// Path, if set, is what the request asks for in place of a resource, such as a document of discovery, or a resource that is not
	// served. Resource then means nothing, and Verb is the method.
	Path string
	// Preconditions must hold for a delete.
	Preconditions *metav1.Preconditions
	// Serve, if set, is called when the request is admitted, in place of Verb's action. Layers that know more of an API's rules
	// than create, update and delete use it to go through connections and their faults.
	Serve func() (runtime.Object, error)
}

func (w *Write) describe() string {
	if w.Path != "" {
		return string(w.Verb) + " " + w.Path
	}
	namespace, name := w.Namespace, w.Name
	if m, err := store.Meta(w.Object); err == nil {
		namespace, name = m.GetNamespace(), m.GetName()
	}
	if namespace != "" {
		name = namespace + "/" + name
	}
	return string(w.Verb) + " " + name
}
