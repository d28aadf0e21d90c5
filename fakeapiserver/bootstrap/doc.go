// Package bootstrap has the objects of a fresh cluster: what a real apiserver creates when it starts with an empty store.
//
//	for _, o := range bootstrap.Objects(bootstrap.Options{Now: now}) {
//		… create o.Object unless it exists, as the client bootstrap.Client; then apply o.Status if it was created …
//	}
//
// They are the system namespaces, the Service of the apiserver itself with its IP address and the range that it is from, the priority
// classes of system Pods, the flow schemas and priority levels.
//
// What may not be done here: know of a server or the Store, or read a clock.
package bootstrap
