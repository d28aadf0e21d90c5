// Package rest is the apiserver's REST semantics: what a request means, which rules a write must meet, and what the answer
// says, over the Store, Replicas and Clients of package fakeapiserver. It works inside a kernel's steps (transport.API),
// so every request is admitted by one choice and answered by another, and every frame of a watch delivered by one.
//
// It owns paths, verbs, options, content types and Status objects. Types, patches, rendering and discovery documents are
// packages of their own. It may not keep state beside the Store's, start a goroutine, or read a clock but the kernel's.
package rest
