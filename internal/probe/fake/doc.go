// Package fake serves the conformance resources from fakeapiserver, as a target of probes.
//
// It runs in real time and over a socket, as the real server that it is compared with does. It only assembles the packages
// of fakeapiserver: what a probe finds wrong is corrected there.
package fake
