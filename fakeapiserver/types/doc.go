// Package types defines the kinds of objects that a fake apiserver serves, and how an object of each kind is prepared for the
// store.
//
// A [Resource] describes one resource in one version: names, scope, verbs, subresources, and a [Strategy] that decodes,
// defaults, prunes, validates and reads it. A [Registry] holds the resources of a server in the order in which they were added.
//
//	reg := types.NewRegistry()
//	err := reg.Add(types.Builtin(types.BuiltinOptions{})...)     // those of client-go's scheme
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
// Built-in types are Go structs of client-go's scheme. Their generated defaulting, admission and validation live in
// k8s.io/kubernetes and are not part of this package: only metadata is validated, nothing is defaulted, and the spec is stored
// unchecked. What a real server's strategies do to status, metadata and generation is done ([Resource.BeforeUpdate]). Versions of
// one built-in kind share a store. client-go has no conversions, so objects are converted by what the versions have in common: a
// field keeps its value where the other version has one of the same name and form ([Strategy].Convert). That is exact for most;
// of the versions served by default only those of HorizontalPodAutoscaler differ, and have a conversion of their own.
// core and events.k8s.io Events, which share a store in a real cluster, are separate here.
//
// Custom resources are unstructured. Their strategies come from the apiextensions library and live in package types/crd, so that
// only programs that load manifests link that library (600 packages, see there).
//
// # What may not be done here
//
// Keep state, start a goroutine, read a clock, draw a random number, or know of the Store: every function depends on its inputs
// alone. Objects passed in as live (old) are never changed.
package types
