// Package fault describes what can go wrong with a Kubernetes apiserver, its etcd and the network before it, as data.
//
// It owns the kinds of faults and their properties ([Kind], [Spec], [Set]), a fault with its target, time and trigger ([Fault],
// [Trigger]), and the mixes from which a run draws faults ([Mix]), with their JSON and YAML forms. A kind's name is also the
// name of the choice that a strategy picks, so names are part of traces, and the order of the table decides what a swarm
// draws.
//
// # What may not be done here
//
// Apply a fault (package fakeapiserver does), or import anything of Kubernetes.
package fault
