// Package shell tests package informer/dropin, with its goroutines and the real clock, against a real apiserver: it lists,
// watches, and recovers from an outage, a compaction and a restart of the server, with every queue, with and without
// streaming lists, and leaks no goroutine.
//
// The test must not look inside the informer. It observes requests at the transport, contents in the store, and
// notifications at handlers.
package shell
