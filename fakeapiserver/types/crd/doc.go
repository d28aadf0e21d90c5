// Package crd makes resources of CustomResourceDefinitions, with the apiextensions library of the real server: structural
// schemas, defaulting, pruning, validation with CEL rules and ratcheting, printer columns, OpenAPI documents.
//
//	definitions, err := crd.LoadManifests(file)      // YAML or JSON, many documents or a List
//	resources, err := crd.Compile(definitions...)    // one for each served version
//	err = registry.Add(resources...)
//
// Versions are converted by the strategy None: the apiVersion changes, and what the version's schema does not have is pruned.
// A definition that asks for a webhook is refused.
//
// # What it costs
//
// The library pulls in some 600 packages that client-go does not (CEL, gRPC, the generic registry): about 30 MB in a binary, a
// second or two of linking, and a minute of compiling from an empty cache. Reading and compiling a definition takes some
// milliseconds, the first one in a process 30. That is why it is a package of its own: package
// types and whoever writes REST semantics do not link it, only who loads manifests does.
//
// # What may not be done here
//
// The same as in package types. What the library does with time or goroutines (latency metrics) leads to no result.
package crd
