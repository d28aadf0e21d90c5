package fakeapiserver

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
	Resource ResourceID
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
	if m, err := objectMeta(w.Object); err == nil {
		namespace, name = m.GetNamespace(), m.GetName()
	}
	if namespace != "" {
		name = namespace + "/" + name
	}
	return string(w.Verb) + " " + name
}

// execute carries out a write.
func (c *Cluster) execute(w Write) (runtime.Object, error) {
	if w.Serve != nil {
		return w.Serve()
	}
	switch w.Verb {
	case Create, Update:
		if _, err := objectMeta(w.Object); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		if w.Verb == Create {
			return c.Create(w.Resource, w.Object.DeepCopyObject())
		}
		return c.Update(w.Resource, w.Object.DeepCopyObject())
	case Delete:
		return c.Delete(w.Resource, w.Namespace, w.Name, w.Preconditions)
	}
	return nil, apierrors.NewBadRequest(fmt.Sprintf("there is no verb %q: use create, update or delete", w.Verb))
}
