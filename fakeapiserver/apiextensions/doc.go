// Package apiextensions acts on CustomResourceDefinitions: a new one is served once its names are accepted, a changed one changes
// what is served, and a deleted one takes its objects along.
//
//	x, err := apiextensions.New(cluster, api)   // adds customresourcedefinitions to the API
//	err = x.Install(definition)                 // like a client, but established at once
//
// A [Server] is an actor of the kernel. It does the work of a real apiserver's naming, establishing, approval, finalizing and serving
// controllers, one write at a time, so that other things may happen between any two. Writes queue the definitions that they
// affect, as an informer's events would.
//
// It owns what the REST layer serves of custom resources, and the status of definitions. Package types/crd has the rules of
// definitions, from the library.
//
// What may not be done here: start a goroutine, read any clock but the kernel's, or keep state that the definitions do not have,
// except the queue and what is being served.
package apiextensions
