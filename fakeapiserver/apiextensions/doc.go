// Package apiextensions makes CustomResourceDefinitions do something: one that is created is served once its names are accepted,
// one that is changed changes what is served, and one that is deleted takes its objects along.
//
//	x, err := apiextensions.New(cluster, api)   // the API has customresourcedefinitions from then on
//	err = x.Install(definition)                 // as a client would, and at once established
//
// A [Server] is an actor of the kernel. It does what the naming, establishing, approval, finalizing and serving controllers of a
// real apiserver do, one write at a time, so that other things may happen between any two: definitions are found by what a
// write has changed, as an informer would tell it.
//
// It owns what the REST layer serves of custom resources, and the status of definitions. The rules of definitions are those of
// the library, in package types/crd.
//
// What may not be done here: start a goroutine, read a clock but the kernel's, or keep anything that the definitions do not say,
// but for what is queued and what was served last.
package apiextensions
