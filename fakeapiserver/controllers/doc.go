// Package controllers has the parts of a control plane that users expect of an apiserver's objects: the garbage collector, which
// follows ownerReferences and deletion finalizers, the namespace controller, which empties deleted namespaces, the ServiceAccount
// controller, which keeps one in every namespace, and what makes Pods live: a scheduler, kubelets that take them from stage to stage
// (package stages), and the node lifecycle controller.
//
// Each is an actor of the kernel: its next item is a choice, so it can be as slow as the strategy likes. [Options] add delay and lag.
// They read the Store, as the real ones read the apiserver, and write through the Cluster.
//
//	gc := controllers.NewGarbageCollector(cluster, controllers.Options{})
//	ns := controllers.NewNamespaceController(cluster, controllers.Options{Delay: time.Second})
//
// What may not be done here: start a goroutine, read any clock but the kernel's, let map order affect a choice or a write, or keep
// state that the objects do not have, except queues and indices.
package controllers
