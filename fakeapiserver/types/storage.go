package types

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Storage is implemented by strategies that carry out whole writes themselves: those of built-in kinds, whose rules are code of
// Kubernetes and not data. Nothing is stored here; an Outcome says what is to be. Errors are those that the client gets.
type Storage interface {
	// Create returns the outcome of a POST of obj, which is decoded, wiped (Resource.WipeForCreate) and tracked, in the version and of
	// the kind of the subresource. It may be changed.
	Create(w *Write, obj runtime.Object) (Outcome, error)
	// Update returns the outcome of a PUT or PATCH. change gets the current object in the version and of the kind of the subresource,
	// an empty one if there is none and the kind may be created this way, and returns what is to replace it.
	Update(w *Write, change func(current runtime.Object) (runtime.Object, error)) (Outcome, error)
	// Delete returns the outcome of a DELETE of the live object.
	Delete(w *Write, o *metav1.DeleteOptions) (Outcome, error)
	// DeleteCollection returns what the DELETE of a collection says (Outcome.Warnings) or why it is refused, before any object of it is deleted.
	DeleteCollection(w *Write, o *metav1.DeleteOptions) (Outcome, error)
	// Bookmark returns a watch's bookmark, an empty object but for its metadata, in the resource's version.
	Bookmark(obj runtime.Object) (runtime.Object, error)
	// Show returns what a GET of a subresource answers, for a stored object.
	Show(subresource string, stored runtime.Object) (runtime.Object, error)
}

// Write is what a Storage knows of a write besides the object. Its System has no namespace.
type Write struct {
	// Subresource is "" for the resource itself. Namespace and Name are the URL's; the name of a POST may be empty.
	Subresource, Namespace, Name string
	System                       System
	DryRun                       bool
	// UID is the uid that the object must have, nil if the client does not say.
	UID *types.UID
	// User makes the request; the zero value stands for the Administrator.
	User User
	// CreateRefused is why a PUT or PATCH may not create the object, nil if it may. It counts once the new object is valid.
	CreateRefused error
	// Live is the object as stored, nil if there is none. It is not changed.
	Live runtime.Object
	// Persisted is the live object as it was written, if that differs from how it reads (Outcome.Persisted); otherwise nil.
	Persisted runtime.Object
	// List returns the stored objects of a resource, of one namespace or, for "", of all. A Service must not take an address or port of another,
	// and a Pod has the priority of its PriorityClass. nil means that there are none.
	List func(gr schema.GroupResource, namespace string) []runtime.Object
	// Get returns a stored object, nil if there is none. It is not changed. nil stands for an empty cluster.
	Get func(gr schema.GroupResource, namespace, name string) runtime.Object
}

// User is who makes a request.
type User struct {
	Name, UID string
	Groups    []string
	Extra     map[string][]string
}

// Administrator is who makes a request if nobody else is named: the user of the client certificate that envtest makes for a real
// kube-apiserver.
func Administrator() User {
	return User{Name: "admin", Groups: []string{"system:masters", "system:authenticated"}}
}

// Effect is what a write does to an object that it does not name.
type Effect struct {
	Resource schema.GroupResource
	// Stored replaces the object, in the storage version.
	Stored runtime.Object
	// Put, if set, is instead sent to a subresource in a request of the server's own.
	Put         runtime.Object
	Subresource string
	// Create, if set, is instead created in a request of the server's own, and Delete names an object of no namespace that is deleted.
	Create runtime.Object
	Delete string
	// After is set if it comes after the write, and not before.
	After bool
}

// Outcome is what a write does.
type Outcome struct {
	// Stored is the object to be stored, in the storage version, nil if the write stores nothing. It carries the live object's
	// resourceVersion, or none if it is new.
	Stored runtime.Object
	// Persisted is what is written if that reads as Stored, but is not the same: Kubernetes sets defaults when it reads, too, for what its
	// strategies have changed since the object came in. A write that changes nothing is one all the same if it writes other bytes
	// (S4). nil if it is the same.
	Persisted runtime.Object
	// Earlier are states of the object that are stored before that one, each a write of its own.
	Earlier []runtime.Object
	// Effects are changes of other objects, which come first unless they say otherwise.
	Effects []Effect
	// Created is set if the object is new; Deleted if it goes away, after Stored is written if there is something to be.
	Created, Deleted bool
	// Answer is what the client gets; nil if that is the stored or deleted object. It is in the storage version or of a kind of its own.
	Answer runtime.Object
	// Warnings are Warning headers, in order. They may accompany an error.
	Warnings []string
}
