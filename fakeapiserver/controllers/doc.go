// Package controllers has the parts of a control plane without which an apiserver's objects do not behave as users know them:
// the garbage collector, which follows ownerReferences and the finalizers of deletion, and the namespace controller, which
// empties namespaces that are deleted.
//
// Each is an actor of the kernel: what it does next is a choice, so it is as slow as the strategy likes. [Options] make it slow
// or lagging on purpose. They read the Store, as the real ones read the apiserver, and write through the Cluster.
//
//	gc := controllers.NewGarbageCollector(cluster, controllers.Options{})
//	ns := controllers.NewNamespaceController(cluster, controllers.Options{Delay: time.Second})
//
// What may not be done here: start a goroutine, read a clock but the kernel's, let the order of a map reach a choice or a write,
// or keep state that the objects do not have, but for what is queued and indices of it.
package controllers
