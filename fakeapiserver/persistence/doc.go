// Package persistence stores a cluster's objects in a file, so that a served session survives restarts and kills.
//
//	file, state, err := persistence.Open(path)      // state is the file's content, empty for a new file
//	defer file.Close()
//	… add resources to the cluster …
//	err = persistence.Load(cluster, state)          // inside a step
//	recorder := persistence.Record(cluster, file)
//	api = &persistence.Durable{API: api, Recorder: recorder} // saves before anything is sent
//
// It saves state: every object with its resourceVersion, uid, times and managedFields, and the revision. It does not save history:
// after a restart the state is compacted at its last revision, as after the restore of a snapshot. Older continue tokens and
// watches get 410, and clients list again. A watch from the last revision continues.
//
// The file is one of bbolt, the embedded store of etcd: transactions survive a kill at any moment. It is locked while it is open.
// This package owns the layout within it. Writes are collected until the next answer or frame, and saved then in one transaction,
// so that those of one step, and of requests that arrive together, cost one disk sync.
//
// What may not be done here: start a goroutine, or change an object.
package persistence
