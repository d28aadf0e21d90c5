// Package fakeserver asks a small server of its own for what informers never ask, in any order of steps, and holds the answers against a model: pages with a
// selector, exact revisions, continue tokens after a compaction, watches without bookmarks, writes that must be refused. Beside that, it has each kind of
// fault hit a quiet server, orders faults for some requests, asks what has one answer, and calls a Store by itself.
//
// It owns the model, which knows nothing but the commits. What may not be done here: look into the server to find out what it should have said.
package fakeserver
