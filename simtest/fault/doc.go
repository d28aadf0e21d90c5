// Package fault describes what can go wrong with a Kubernetes apiserver, its etcd and the network before it, as data: the kinds of faults
// ([Kind]), a fault with its target, time and trigger ([Fault], [Trigger]), and mixes from which a run draws faults ([Mix]).
//
// The files beside this one are copies of those of package fakeapiserver/fault, which says what each kind means for the server; the engine checks the
// values. What may not be done here: import anything but the standard library.
package fault
