// Package probe plays requests against an apiserver and records its answers in a form that allows two servers to be
// compared.
//
// A Probe is a short script of raw HTTP requests and watches (see Parse for the language). Run plays it against a
// Target and returns a Transcript: for each step the status code, the relevant headers, the body and the watch events,
// with everything that may legitimately differ between two servers replaced: resourceVersions become offsets from the
// revision at which the probe began (R+3), uids are numbered, times, generated name suffixes and addresses are masked.
// The JSON of the rest must be equal byte for byte.
//
// Offsets are exact, because each write raises the revision by one (S1). So a probe witnesses every write of a server,
// and the probes of one server run sequentially: parallelism comes from running several servers.
//
// The package links no apiserver. It must not know the right answers: those come from a real server, or from the goldens
// recorded from one.
package probe
