// Package store holds the state of a cluster, as etcd does: all objects of all resources, under one revision that every write
// increments.
//
// A [Store] holds a [Timeline] for each resource: keys in order, for each the chain of its [Version]s, newest first, and a log
// of all versions in the order of revisions. Reading an old revision copies nothing, and a watch is a position in the log.
// Compaction makes older revisions unreadable at once; their memory is freed when no watch cache needs them (Options.Floor).
// Restoring an older revision forks the timelines; holders of the old ones are not affected.
//
// [Store.Put], [Store.Delete], [Store.Get], [Store.Walk] and [Store.Changes] take names. [Store.Find], [Store.Commit] and
// [Store.Remove] do the same for a caller that looks a key up once and then decides.
//
// # What may be relied on
//
//   - Committed objects are immutable and shared with all readers. Committing an object transfers it to the Store.
//   - Trimmed versions are reused: beyond a step, hold on to the object or the [Entry], not to the [Version].
//   - Uids and generated names follow from the seed and the revision.
//
// # What may not be done here
//
// Enforce the API's rules (package fakeapiserver and the layers above do), know of replicas, clients or faults, start a
// goroutine, or read any clock but Options.Now.
package store
