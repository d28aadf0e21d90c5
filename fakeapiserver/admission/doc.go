// Package admission asks the admission webhooks and evaluates the admission policies that are configured in a cluster, with k8s.io/apiserver's
// own plugins: their rules, selectors, match conditions, order, reinvocation, timeouts, failure policies and messages are those of a real apiserver.
//
//	asked, err := admission.New(admission.Options{Cluster: c, Types: t})
//	server, err := rest.New(rest.Options{Admission: asked, …})
//
// The plugins read configurations from informers. Here they read a snapshot that is taken inside a step, so that a webhook is called from
// the request on that follows its configuration; a real server takes some milliseconds to notice it.
//
// How a webhook is reached is the driver's: over the network in a served cluster, through a pipe in a simulation. A plugin waits for the
// answer, so nothing in a step may ask it, unless Options.Transport answers at once. The package may not change the cluster's state.
package admission
