// Package webhooks calls the admission webhooks that are configured in a served cluster, with k8s.io/apiserver's own plugins: their
// rules, selectors, match conditions, order, reinvocation, timeouts, failure policies and messages are those of a real apiserver.
//
// The plugins read configurations from informers. Here they read a snapshot that is taken inside a step, so that a webhook is called from
// the request on that follows its configuration; a real server takes some milliseconds to notice it.
//
// The package calls servers, which takes time: nothing in a step may wait for it. It may not change the cluster's state.
package webhooks
