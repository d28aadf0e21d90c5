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
// The file is a log of changes, and is locked while it is open. A write goes to the file before it goes to the Store: one that the
// file cannot take, as on a full disk, is refused, and nobody ever sees it; reads go on, and so do writes once there is room. Before
// an answer or a frame is sent, the file is synced, so that writes of one step, and of requests that arrive together, share a sync.
// If the sync fails, it is unknown what the disk has: the run ends, and a restart finds out. A log that has become twice as long as
// its content, and 64 MiB, is written anew beside the file, and renamed.
//
// Every record has checksums. When a file is opened, what a kill or a power cut left unfinished at its end is dropped: it was not
// acknowledged. Anything else that is not as it was written, a flipped bit or a missing tail, is reported with the key of its
// object, and the file is neither served nor changed: a guess at its state could be wrong. A file of another layout is refused.
//
// What may not be done here: start a goroutine, or change an object.
package persistence
