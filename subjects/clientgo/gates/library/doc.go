// Package library holds those parts of client-go against models that no informer of a scenario uses, although controllers do: stores that
// forget or push, the cache of mutations, heaps, trackers, limiters, keys, informers that are not shared, pagers, metrics, the mutation detector, requests of REST clients.
//
// It owns the models and what is drawn for them. A check is a few random calls of one part; what it draws depends on nothing but its turn.
//
// What may not be done here: read the time, have more of it pass than a nanosecond unless something is wrong or a listener or a RetryWatcher rests, wait without an end for what a defect may keep from coming, or leave a goroutine behind.
package library
