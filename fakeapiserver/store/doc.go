// Package store keeps the state of a cluster, as etcd does: all objects of all resources, under one revision that every write
// raises.
//
// A [Store] holds a [Timeline] for each resource: keys in order, for each the chain of its [Version]s, newest first, and a log
// of all versions in the order of revisions. Reading an old revision copies nothing, and a watch is a position in the log.
// Compaction forbids reading at once; the memory is given back when no watch cache needs it any more (Options.Floor).
// Restoring an older revision forks the timelines: whoever holds the old ones keeps them undisturbed.
//
// [Store.Put], [Store.Delete], [Store.Get], [Store.Walk] and [Store.Changes] take names. [Store.Find], [Store.Commit] and
// [Store.Remove] do the same for a caller that looks a key up once and then decides.
//
// # What may be relied on
//
//   - Committed objects are immutable and shared with all readers. Whoever commits an object gives it up.
//   - Versions are used again once trimmed: keep the object or the [Entry], not the [Version], beyond a step.
//   - Uids and generated names follow from the seed and the revision.
//
// # What may not be done here
//
// Enforce the API's rules, which is for package fakeapiserver and above, know of replicas, clients or faults, start a
// goroutine, or read a clock but Options.Now.
package store
