package informer

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// NotificationType selects the handler method that a Notification calls.
type NotificationType uint8

// The notification types. The zero value is invalid.
const (
	NotifyAdd NotificationType = iota + 1
	NotifyUpdate
	NotifyDelete
)

// String returns add, update or delete.
func (t NotificationType) String() string {
	switch t {
	case NotifyAdd:
		return "add"
	case NotifyUpdate:
		return "update"
	case NotifyDelete:
		return "delete"
	}
	return fmt.Sprintf("NotificationType(%d)", uint8(t))
}

// Notification is one pending handler call. It is a value, so that a ring of them needs no allocation per entry.
type Notification struct {
	Type NotificationType
	// IsInInitialList is for adds only (I41).
	IsInInitialList bool
	// Key is the object's key.
	Key string
	// Old is the object before: set for updates, and for deletes (there it may be a cache.DeletedFinalStateUnknown).
	Old any
	// New is the object after: set for adds and updates.
	New any
}

// IsSync reports whether n is an update that did not change the resourceVersion, which only syncing listeners get (I75).
func (n *Notification) IsSync() bool {
	if n.Type != NotifyUpdate {
		return false
	}
	newMeta, oldMeta := metaOf(n.New), metaOf(n.Old)
	return newMeta != nil && oldMeta != nil && newMeta.GetResourceVersion() == oldMeta.GetResourceVersion()
}

// Call calls the handler.
func (n *Notification) Call(h cache.ResourceEventHandler) {
	switch n.Type {
	case NotifyAdd:
		h.OnAdd(n.New, n.IsInInitialList)
	case NotifyUpdate:
		h.OnUpdate(n.Old, n.New)
	case NotifyDelete:
		h.OnDelete(n.Old)
	}
}
