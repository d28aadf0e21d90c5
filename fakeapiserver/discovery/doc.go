// Package discovery answers requests about the server itself: what is served (/api, /apis, in the old and the aggregated form),
// its OpenAPI documents (/openapi/v3, /openapi/v2), version, health, and the list of paths.
//
//	d := discovery.New(registry, discovery.Options{Address: "127.0.0.1:8080"})
//	answer, ok := d.Serve(discovery.Request{Method: "GET", Path: "/apis", Ask: ask})
//	if !ok { … }         // the path is one of a resource
//	d.Changed()          // after the registry was changed
//
// The apiextensions library makes the documents of custom resources. Those of built-in kinds are generated from the Go types: names,
// types, references and descriptions are right, and include what kubectl explain and client-side apply read (kinds, patch
// strategies, parameters of writes); defaults and list types, which only generated code knows, are missing.
//
// # What may not be done here
//
// Know of objects or the Store, read a clock, or let map order show. A Server caches its documents; it is not safe for concurrent
// use.
package discovery
