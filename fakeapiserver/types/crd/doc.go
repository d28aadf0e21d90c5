// Package crd compiles CustomResourceDefinitions into resources, with the apiextensions library of the real server: structural
// schemas, defaulting, pruning, validation with CEL rules and ratcheting, printer columns, OpenAPI documents.
//
//	definitions, err := crd.LoadManifests(file)      // YAML or JSON, many documents or a List
//	resources, err := crd.Compile(definitions...)    // one for each served version
//	err = registry.Add(resources...)
//
// Versions convert by the strategy None: the apiVersion changes, and fields that the version's schema lacks are pruned.
// Where a definition asks for a webhook, it is called if Redefine was told how; otherwise such conversions fail.
//
// # What it costs
//
// The library pulls in some 600 packages that client-go does not (CEL, gRPC, the generic registry): about 30 MB in a binary, a
// second or two of linking, and a minute of compiling from an empty cache. Reading and compiling a definition takes a few
// milliseconds, the first one in a process 30. Hence a package of its own: package types and the REST layer do not link it, only
// programs that load manifests do.
//
// # What may not be done here
//
// The same as in package types. The library's use of time and goroutines (latency metrics) affects no result.
package crd
