// Package discovery answers every request that is about the server and not about an object: what is served (/api, /apis, in the
// old and the aggregated form), how it is described (/openapi/v3, /openapi/v2), which version it is, whether it is well, and
// which paths there are.
//
//	d := discovery.New(registry, discovery.Options{Address: "127.0.0.1:8080"})
//	answer, ok := d.Serve(discovery.Request{Method: "GET", Path: "/apis", Ask: ask})
//	if !ok { … }         // the path is one of a resource
//	d.Changed()          // after the registry was changed
//
// Documents of custom resources are those that the apiextensions library makes. Those of built-in kinds are made from the Go
// types: names, types, references and descriptions are right, and what kubectl explain and client-side apply read is there
// (kinds, patch strategies, parameters of writes); defaults and list types, which only generated code knows, are not.
//
// # What may not be done here
//
// Know of objects or the Store, read a clock, or let the order of a map be seen. A Server keeps the documents that it has made;
// it is not for concurrent use.
package discovery
