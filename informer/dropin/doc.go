// Package dropin is a drop-in replacement for k8s.io/client-go/tools/cache: it has the same exported names and signatures,
// with its own stores, queues, reflectors, controllers and shared informers. To migrate, change the import path.
//
// # What is whose
//
// The contract is client-go's: interfaces, configuration structs, deltas, errors and function types are aliases, so values
// are interchangeable. Generated listers, informers.SharedInformerFactory.InformerFor and handlers written for client-go
// accept this package's values. Small pure helpers (keys, names, listers, list-watches) are client-go's as well.
// Constructors and their results are this package's.
//
// Package informer decides what an informer does, step by step and without waiting. This package runs it: goroutines,
// locks, timers, channels and logs live here, and only here. It does not duplicate informer's decisions: the Reflector's
// states, the effect of deltas on a store and the resulting notifications, DeltaFIFO, and resync bookkeeping. It implements
// two things itself: the thread-safe store, because concurrent readers rule out one that sorts when read, and RealFIFO,
// because its callers choose between Pop and PopBatch.
//
// Reflector is an alias, because the SharedInformer interface names client-go's in its watch error handler. NewReflector
// therefore returns client-go's type, but as a puppet: its lister-watcher and store are the two ends of this package's
// loop, and informer's Reflector decides what it does, when and with which requests. One difference is visible: the backoff
// between rounds and the backoff before a refused watch is retried grow independently, while client-go shares one (I12,
// I33). A shared informer has no such puppet, and one backoff for both.
//
// Comments and tests cite the numbered behaviours of docs/spec/informer.md (I1 to I99); informer/doc/conformance.md lists where.
//
// # What may not be done here
//
// Start a goroutine that outlives the context or stop channel it was started with, except, as in client-go, for a LIST that
// ignores its context (I9); call a handler, a transformer or a process function while holding a lock that another goroutine
// may need, except where client-go promises that lock.
package dropin
