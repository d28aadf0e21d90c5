package network

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
)

func (c *Controller) networkHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: c.enqueue,
		UpdateFunc: func(old, obj any) {
			o, err1 := FromObject(old.(*unstructured.Unstructured))
			n, err2 := FromObject(obj.(*unstructured.Unstructured))
			if err1 == nil && err2 == nil && c.needless(o, n) {
				return
			}
			c.enqueue(obj)
		},
		DeleteFunc: c.enqueue,
	}
}

// needless reports whether an update is dropped. None should be: a resync changes nothing, but the real network may have changed; and
// between two objects that look alike there may have been others, with ConfigMaps that came and went unseen.
func (c *Controller) needless(old, n *Network) bool {
	switch {
	case old.ResourceVersion == n.ResourceVersion:
		return c.mistakes.SkipResyncs
	case c.mistakes.GenerationOnly:
		return old.Generation == n.Generation
	case c.mistakes.DropConflicts:
		return old.UID == n.UID && old.Generation == n.Generation && old.Status == n.Status
	}
	return false
}

// enqueue adds the key of a Network, or of the tombstone of one.
func (c *Controller) enqueue(obj any) {
	keyOf := cache.DeletionHandlingMetaNamespaceKeyFunc
	if c.mistakes.IgnoreTombstones {
		keyOf = cache.MetaNamespaceKeyFunc
	}
	key, err := keyOf(obj)
	if err != nil {
		runtime.HandleError(err)
		return
	}
	c.queue.Add(key)
}

func (c *Controller) childHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: c.enqueueOwner,
		UpdateFunc: func(old, obj any) {
			if old.(*corev1.ConfigMap).ResourceVersion != obj.(*corev1.ConfigMap).ResourceVersion { // they are equal after a relist
				c.enqueueOwner(obj)
			}
		},
		DeleteFunc: c.enqueueOwner,
	}
}

// enqueueOwner adds the key of the Network that owns a ConfigMap. One that does not exist any more needs no ConfigMap.
func (c *Controller) enqueueOwner(obj any) {
	if d, is := obj.(cache.DeletedFinalStateUnknown); is && !c.mistakes.IgnoreTombstones {
		obj = d.Obj
	}
	m, is := obj.(metav1.Object)
	if !is {
		return
	}
	owner := metav1.GetControllerOf(m)
	if owner == nil || owner.Kind != kind {
		return
	}
	if n, err := c.lister.ByNamespace(m.GetNamespace()).Get(owner.Name); err == nil {
		c.enqueue(n)
	}
}
