// Package dropin is a drop-in for k8s.io/client-go/tools/cache: the same exported names and signatures, with stores,
// queues, reflectors, controllers and shared informers of its own. Changing the import path is the whole migration.
//
// # What is whose
//
// The contract is client-go's: interfaces, configuration structs, deltas, errors and function types are aliases, so that a
// value of one package is a value of the other; generated listers, informers.SharedInformerFactory.InformerFor and handlers
// written for client-go accept what this package makes. Small pure helpers (keys, names, listers, list-watches) are
// client-go's as well. Constructors and what they make are this package's.
//
// Package informer decides what an informer does, step by step and without waiting. This package makes it run: goroutines, locks,
// timers, channels and logs live here, and only here. What it gives, this package does not decide a second time: the
// Reflector's states, what deltas do to a store and which notifications follow, DeltaFIFO, and resync bookkeeping are
// informer's. Two things are this package's own: the thread-safe store, whose readers do not wait for each other and which
// therefore cannot be one that sorts while it is read, and RealFIFO, whose callers choose between Pop and PopBatch.
//
// Reflector is an alias, because the SharedInformer interface names client-go's in its watch error handler. What NewReflector
// makes is therefore client-go's type, but a puppet: its lister-watcher and store are the two ends of this package's loop,
// and what it does, when and with which requests, informer's Reflector decides. One thing shows: the waits between its rounds and
// those before a watch that was refused is asked for again grow each by itself, while client-go's grow together (I12, I33). A
// shared informer has no such puppet, and one backoff for both.
//
// Comments and tests cite the numbered behaviours of docs/spec/informer.md (I1 to I99); informer/doc/conformance.md lists where.
//
// # What may not be done here
//
// Start a goroutine that outlives the context or stop channel it was started with, a LIST that does not heed its context
// excepted, as in client-go (I9); call a handler, a transformer or a
// process function while holding a lock that another goroutine may want, except where client-go promises that lock.
package dropin
