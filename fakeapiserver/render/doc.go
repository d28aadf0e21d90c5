// Package render turns objects, lists, watch events and errors into the bytes that a client asked for: JSON, YAML or protobuf,
// whole objects, Tables or metadata only.
//
//	a := render.Ask{Accept: header.Get("Accept"), UserAgent: …, Query: url.Query()}
//	f, err := a.Negotiate(r, "")                       // a 406 is shown like any error
//	view, err := render.NewView(f, r, "", a.Query)
//	obj, err := view.Of(object, now)                   // a Table, metadata, or the object itself
//	data, err := f.Encode(obj)                         // with f.ContentType()
//
//	list, err := render.List(r, items, metav1.ListMeta{…})    // before Of
//	f, data := a.Error(err)                            // what a client sees of any error
//	frame, err := view.Frame(watch.Added, object, now) // one frame of a watch, with f.StreamType()
//
// An [Encoded] caches the bytes of one object, once per form. Stored objects are immutable, so fanning an event out to a thousand
// watchers encodes it once, and a list is a [Body] around bytes that its items already have.
//
// # What may not be done here
//
// Change an object passed in, know of requests beyond an Ask, or read a clock: ages are as of a given time.
package render
