// Package timeline reads a trace into what reports show of it: who took part (lanes), what each step did and to which part of which actor,
// what became of each version of each object, requests, and bands during which something was held, deaf or down. Whoever draws or
// prints a run (reports/html, informersim explain, replay --step) takes it from here.
//
// Everything is derived from the trace's records alone, so some of it is a model: a queue, for instance, is what was delivered and has
// not reached the Indexer. The package must not draw, and must not know what a viewer looks like.
package timeline
