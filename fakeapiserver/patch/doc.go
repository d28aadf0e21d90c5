// Package patch makes of a write request and the live object the object that is to be stored: creates, updates, the four kinds
// of patches, server-side apply, and the managedFields that all of them leave behind.
//
//	w := patch.NewWriter()
//	q := patch.Request{Resource: r, Subresource: "status", Namespace: ns, Name: name, UserAgent: agent, System: …}
//	result, err := w.Create(q, types.Body{…}, createOptions)
//	result, err := w.Update(q, live, types.Body{…}, updateOptions)
//	result, err := w.Patch(q, live, contentType, data, patchOptions)     // live is nil for what does not exist
//
// The steps of a write are those of a real server, in its order, for it is the order that decides which of two errors a client
// sees (S3): options, body, name and namespace, uid, field tracking, resourceVersion, preparation, validation, equality.
// A [Result] says what the store has to do: write the object, delete it (its last finalizer is gone, S18), or nothing (S4).
// Live objects are given and results made in the resource's storage version, whatever version the request speaks.
// What a dry run leaves out is the store's part.
//
// Errors are API statuses (apierrors.APIStatus), or plain ones, which a real server answers with 500 and no reason (S2, S30):
// render.Status makes the answer of either.
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
// Store. A Writer keeps field managers that take long to build, and what they came to (tracked.go); it belongs to one server, and
// is not for concurrent use.
package patch
