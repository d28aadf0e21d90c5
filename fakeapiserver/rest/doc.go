// Package rest implements the apiserver's REST semantics over the Store, Replicas and Clients of package fakeapiserver: what a
// request means, which rules a write must meet, and how it is answered. It works inside a kernel's steps (transport.API): one
// choice admits a request, another delivers its answer, and each frame of a watch is delivered by a choice of its own.
//
// It owns paths, verbs, options, content types and Status objects. Types, patches, rendering and discovery documents have
// packages of their own. It may not keep state beside the Store's, start a goroutine, or read any clock but the kernel's.
package rest
