// Package types defines the kinds of objects that a fake apiserver serves, and how an object of each kind is prepared for the
// store.
//
// A [Resource] describes one resource in one version: names, scope, verbs, subresources, and a [Strategy] that decodes,
// defaults, prunes, validates and reads it. A [Registry] holds the resources of a server in the order in which they were added.
//
//	reg := types.NewRegistry()
//	err := reg.Add(builtin.Resources(builtin.Options{})...) // package builtin: a kube-apiserver's own
//	definitions, err := crd.LoadManifests(file)                  // package types/crd: custom resources
//	list, err := crd.Compile(definitions...)
//	err = reg.Add(list...)
//	r := reg.Lookup(schema.GroupVersionResource{...})
//	obj, warnings, err := r.Decode(types.Body{Data: data, ContentType: types.JSON, Directive: "Strict"}, "")
//	warnings, err = r.BeforeCreate(obj, types.System{Namespace: ns, UID: uid, Now: now, Suffix: suffix})
//	warnings, err = r.BeforeUpdate(obj, live, ns, "status")
//
// Package patch puts these steps into the order of a real server; a server rarely needs to call them one by one.
//
// # Two kinds of strategies
//
// Built-in kinds are Go types. What a kube-apiserver does to them is code, which lives in k8s.io/kubernetes: their strategies, in package
// builtin, carry out whole writes themselves ([Storage]). This package links nothing of that.
//
// Custom resources are unstructured. Their strategies are steps ([Rules]), come from the apiextensions library and live in package types/crd, so that
// only programs that load manifests link that library (600 packages, see there).
//
// # What may not be done here
//
// Keep state, start a goroutine, read a clock, draw a random number, or know of the Store: every function depends on its inputs
// alone. Objects passed in as live (old) are never changed.
package types
