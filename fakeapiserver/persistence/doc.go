// Package persistence keeps a cluster's objects in a file, so that a served session survives a restart, and a kill.
//
//	file, state, err := persistence.Open(path)      // state is what is in the file, nothing if it is new
//	defer file.Close()
//	… resources are added to the cluster …
//	err = persistence.Load(cluster, state)          // inside a step
//	recorder := persistence.Record(cluster, file)
//	api = &persistence.Durable{API: api, Recorder: recorder} // nobody is told of what is not in the file
//
// What is kept is the state: every object with its resourceVersion, uid, times and managedFields, and the revision. History
// is not: after a restart the state is compacted to the revision at which it ended, as after the restore of a snapshot.
// Continue tokens and watches from before get 410, and clients list again. A watch from the last revision goes on.
//
// The file is one of bbolt, the embedded store of etcd: transactions survive a kill at any moment. It is locked while it is
// open. This package owns the layout within it. Writes are collected until somebody is to be told of anything, and saved then
// in one transaction, so that those of one step, and of requests that arrive together, cost one sync of the disk.
//
// What may not be done here: start a goroutine, or change an object.
package persistence
