// Package types knows which kinds of objects a fake apiserver serves, and what it does to an object of each kind on its way
// into the store.
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
// k8s.io/kubernetes and are not part of this package: only metadata is validated, nothing is defaulted, and a spec is taken
// as it is. What the strategies of a real server do to status, metadata and generation is done ([Resource.BeforeUpdate]).
// Versions of one built-in kind share a store. client-go has no conversions, so they are converted by what they have in common:
// a field keeps its value where the other version has one of the same name and form ([Strategy].Convert). That is exact for
// most; of the versions that are served by default only those of HorizontalPodAutoscaler differ, and have a conversion of their
// own. core and events.k8s.io Events, which share a store in a real cluster, are two here.
//
// Custom resources are unstructured. Their strategies come from the apiextensions library and live in package types/crd, so
// that only who loads manifests links that library (600 packages, see there).
//
// # What may not be done here
//
// Keep state, start a goroutine, read a clock, draw a random number, or know of the Store: every function is one of its
// inputs. Objects that are passed in as live (old) are never changed.
package types
