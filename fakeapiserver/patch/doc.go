// Package patch computes the object to store from a write request and the live object: creates, updates, the four kinds of patches,
// server-side apply, and the managedFields of them all.
//
//	w := patch.NewWriter()
//	q := patch.Request{Resource: r, Subresource: "status", Namespace: ns, Name: name, UserAgent: agent, System: …}
//	result, err := w.Create(q, types.Body{…}, createOptions)
//	result, err := w.Update(q, live, types.Body{…}, updateOptions)
//	result, err := w.Patch(q, live, contentType, data, patchOptions)     // live is nil for what does not exist
//
// The steps of a write are a real server's, in its order, because the order decides which of two errors a client sees (S3):
// options, body, name and namespace, uid, field tracking, resourceVersion, preparation, validation, equality. A [Result] tells the
// store to write the object, to delete it (its last finalizer is gone, S18), or to do nothing (S4). Live objects and results are
// in the resource's storage version, whatever version the request speaks. Leaving a dry run unwritten is up to the store.
//
// Errors are API statuses (apierrors.APIStatus), or plain ones, which a real server answers with 500 and no reason (S2, S30).
// render.Status turns either into an answer.
//
// # What is used
//
// JSON patches and merge patches: evanphx/json-patch. Strategic merge patches: apimachinery. Apply and field tracking:
// apimachinery's managedfields over structured-merge-diff; the types are those of the schema of a custom resource, and of
// client-go's apply configurations for built-in ones.
//
// # What may not be done here
//
// Change a live object, read a clock (the managedfields library does; its times are replaced, see times.go), or know of the
// Store. A Writer caches field managers, which are slow to build, and their results (tracked.go). It may serve several servers, one
// after the other, and is not safe for concurrent use.
package patch
