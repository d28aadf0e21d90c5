// Package recording turns what kubectl recorded of a real cluster into a scenario that replays the same history.
//
// It reads the output of
//
//	kubectl get RESOURCE -A -o json --watch --output-watch-events     (WatchEvents)
//	kubectl get RESOURCE -A -o json                                   (List; also --raw lists and single objects)
//
// and makes a script with the same objects, byte for byte except for whitespace and redacted Secrets, in the same order and
// with the same revisions: for each kind a `resource` command; its initial state as `create` commands in the order of
// their revisions; an informer, settled so that its initial list is the initial state; the changes as `create`,
// `update` and `delete` commands with `rv=N` and the object (the final one of a deletion); at the end `settle` and `expect
// … converged`. The changes of several kinds are merged by revision, since a cluster counts one for all.
//
// How the events of a recording are understood:
//
//   - The initial state is the leading run of ADDED events as far as it is a list: kubectl prints a list in the order of
//     "namespace/name" (S6), so it ends where that order breaks, but not before the last revision that goes back, and at
//     the latest at a key that comes again or at the bookmark of a streaming list's end (S15). Objects created right after
//     the list whose keys happen to go on in order count as listed: the state is the same.
//   - Otherwise revisions increase. ADDED of a known object with a higher revision is an update, MODIFIED of an unknown one
//     a create, an event that says what is already known nothing. BOOKMARK says nothing. ERROR ends the recording.
//   - A later run of ADDED events that ascends in that order and repeats a known object at its revision is the list of a
//     recording that was started again. Its changes are replayed in the order of their revisions; known objects missing in
//     it were deleted meanwhile. So was an object that comes back with another uid. The revision of such a deletion is
//     unknown: it gets the first free one, and its object as last seen. If none is free before the object comes back, that
//     is an update and the deletion is left out.
//   - A deletion of an object that was never seen is left out. Both kinds of guesses are said in the script's prose.
//   - The last watch event may be cut off, as Ctrl-C does: it is left out, and said in the prose.
//
// The package owns the reading of recordings and the redaction in them. It must not run anything, keep state, or write a date
// or path of this machine into a script. Its memory is that of the resulting script, at most script.MaxFileSize bytes of
// objects; the recording is streamed.
package recording
