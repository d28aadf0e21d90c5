// Package differential runs one scenario on two subjects and compares, wherever it is quiescent, what each asked the
// apiserver, what each told its handlers, and what each holds. One of two that differ is wrong, or the difference is one of
// those that are allowed ([Allowed]), with a reason.
//
// A comparison is worth something only if both are driven alike: the strategy is fifo, where time passes and how the server
// answers is the same for both, and both draw the same backoffs and watch timeouts (subjects.Draws). Where one engine
// takes two steps the other may take one, so what happens between two points of rest is compared as a whole, and workers begin
// at an instant when everything else has happened there (scenarios.Options.WorkersLast).
//
// What may not be done here: know a subject from inside, or compare what depends on the number of steps.
package differential
