// Package shell holds the test of package informer, with its goroutines and the real clock, against a real apiserver: it
// lists, watches, and goes on after an outage, a compaction and a restart of the server, with every queue, with and without
// streaming lists, and leaves no goroutine behind.
//
// What may not be done here: look into the informer. What it asked for is seen by its transport, what it holds by its store,
// what it tells by its handlers.
package shell
