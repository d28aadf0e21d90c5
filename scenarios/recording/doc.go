// Package recording turns a recording of a real cluster, by kubectl or by the apiserver, into a scenario that replays the same history.
//
// It reads the output of
//
//	kubectl get RESOURCE -A -o json --watch --output-watch-events     (WatchEvents)
//	kubectl get RESOURCE -A -o json                                   (List; also --raw lists and single objects)
//	kube-apiserver --audit-log-path                                   (Audit; lines of JSON)
//
// and writes a script with the same objects, byte for byte except for whitespace, redacted values and
// metadata.managedFields, in the same order and with the same revisions: for each kind a `resource` command; its initial state as `create` commands in order of revision;
// an informer, settled so that its initial list is the initial state; the changes as `create`, `update` and `delete`
// commands with `rv=N` and the object (for a deletion, its final state); at the end `settle` and `expect … converged`. The
// changes of several kinds are merged by revision, since a cluster has one revision for all kinds.
//
// The events of a recording are interpreted as follows:
//
//   - The initial state is the part of the leading run of ADDED events that is a list: kubectl prints a list in the order of
//     "namespace/name" (S6), so it ends where that order breaks, but not before the last revision that goes back, and at
//     the latest at a repeated key or at the bookmark that ends a streaming list (S15). Objects created right after the
//     list whose keys happen to continue that order count as listed: the state is the same.
//   - Otherwise revisions increase. ADDED of a known object with a higher revision is an update, MODIFIED of an unknown one
//     a create, and an event that repeats a known state a no-op, as is BOOKMARK. ERROR ends the recording.
//   - A later run of ADDED events that ascends in that order and repeats a known object at its revision is the list of a
//     restarted recording. Its changes are replayed in order of revision; known objects missing from it were deleted
//     meanwhile. So was an object that returns with another uid. The revision of such a deletion is unknown: it gets the
//     first free one, and the object as last seen. If none is free before the object returns, the return is an update and
//     the deletion is omitted.
//   - A deletion of an object that was never seen is omitted. The script's prose reports both kinds of guesses.
//   - The versions of an audit log are those of the answers to requests, by revision. A deletion that is answered with a Status comes after all answers
//     before it; so does the end of an object whose last finalizer an update takes, since that answer has the revision before. What no answer has is left out, and the prose says where.
//   - The last watch event may be cut off, as by Ctrl-C: it is omitted, and the prose says so.
//
// The package owns the reading and redaction of recordings. It must not run anything, keep state, or write a date or path of
// this machine into a script. It streams the recording; its memory use is that of the resulting script, at most
// script.MaxFileSize bytes of objects.
package recording
