// Package probe asks an apiserver questions and writes down its answers in a form in which two servers can be
// compared.
//
// A Probe is a short script of raw HTTP requests and watches (see Parse for the language). Run plays it against a
// Target and returns a Transcript: per step the status code, the telling headers, the body and the watch events, with
// everything that may rightly differ between two servers replaced: resourceVersions become offsets from the revision
// at which the probe began (R+3), uids are numbered, times, generated name suffixes and addresses are masked. What
// remains must be equal, byte for byte of its JSON.
//
// Offsets are exact, because each write raises the revision by one (S1). That makes a probe a witness of every write
// that a server makes, and it is why the probes of one server run one after the other: parallelism comes from running
// several servers.
//
// The package links no apiserver. It may not know what a right answer is: that is for a real server, or for the
// goldens recorded from one, to say.
package probe
