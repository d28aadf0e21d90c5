// Package library makes calls of the parts of our stack by themselves, and holds what comes of them against models: limiters that no worker has, retries
// of answers that the fake server does not give, queues and controllers whose objects have no key. It is what informers do not reach that is checked
// here, in the few calls that the end of a run has time for.
//
// It owns the models. What may not be done here: use a cluster, a kernel or a clock, or judge an informer that runs.
package library
