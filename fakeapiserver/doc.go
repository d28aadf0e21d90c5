// Package fakeapiserver models a Kubernetes apiserver with its etcd, as informers and controllers see it, as deterministic
// state machines of package sim.
//
//	writes ──► Store ──apply──► Replica 0 ──deliver──► Client A
//	            │     (lag)     Replica 1 ──deliver──► Client B
//
// A [Cluster] has one [store.Store] (all state and history, one revision), one or more [Replica]s (watch caches that lag behind
// the Store) and [Client]s, whose requests and watches are admitted, answered and delivered by choices. A [fault.Fault] is
// data; the cluster applies it when a script injects it ([Cluster.Inject]) or, if its kind is enabled, when the strategy
// picks it.
//
// The package owns replicas, watch caches, connections, streams, and the effects of faults on them. State lives in package
// store, the kinds and mixes of faults in package fault; neither knows of this package.
//
// # Use
//
//	k := sim.NewKernel(sim.Options{Seed: 1, Strategy: sim.NewFIFO()})
//	c := fakeapiserver.NewCluster(k, fakeapiserver.ClusterOptions{Replicas: 2})
//	pods, err := c.AddResource(store.Resource{Version: "v1", Plural: "pods", Kind: "Pod", Namespaced: true,
//		New: func() runtime.Object { return &corev1.Pod{} }})
//	obj, err := c.Create(pods, pod)              // at once; the Store owns the object from then on
//	cl := c.Connect("a", fakeapiserver.Sticky(0))
//	req := cl.List(pods, "", metav1.ListOptions{ResourceVersion: "0"}, receiver)
//	for k.Step() { ... }                         // receiver.OnList is called inside the step that answers
//
// # What may be relied on
//
//   - Objects in pages and events are shared with the Store and immutable. To change one, copy it.
//   - A commit only notifies the replicas: they see it when their choice `apply` is picked, watches when `deliver` is. Each
//     offers one choice at a time, however long its backlog.
//   - An open watch ends with OnWatchClosed: nil for a clean end, [io.ErrUnexpectedEOF], a reset (ECONNRESET), or
//     [ErrConnectionLost]. An ERROR event arrives before it through OnEvent, with a *metav1.Status.
//   - Refused requests get the *errors.StatusError that client-go would build from the real answer, with its reason, causes
//     and RetryAfterSeconds; broken connections get a *net.OpError.
//
// # Records
//
// commit, apply, request, response, page, frame, watch-closed, fault, compacted, restored: see the Kind variables.
//
// # What may not be done here
//
// Start a goroutine or use a channel, read the real clock, use a global random source, let the order of a map reach a choice,
// a record or a list, or know anything of informers.
package fakeapiserver
