// Package aggregation is the aggregation layer of an apiserver: it makes the APIServices of the groups that the server serves, of
// CustomResourceDefinitions too, says in their conditions whether they are available, and has discovery list the groups by them.
//
//	a, err := aggregation.New(cluster, api)
//	a.Begin() // once the cluster has what it starts with
//
// What is registered when, and what becomes of an APIService that a client changes or deletes, is as in kube-aggregator's autoregister
// controller: those of built-in groups are looked after when the server starts, those of definitions always.
//
// An APIService of another server is stored, and its condition says what a real one would say of its Service and EndpointSlices. It is never
// available: nothing is reached from here over a cluster's network, so that requests for its group are answered with a 503.
//
// # What may not be done here
//
// Open a connection, or know of Go types of CustomResourceDefinitions' objects. A change of a Store is an event; what follows from it is a
// choice of the actor "kube-aggregator".
package aggregation
