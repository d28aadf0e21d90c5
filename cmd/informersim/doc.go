// Command informersim runs Kubernetes informers against a deterministic fake apiserver, with faults, and checks them.
//
// It owns the user interface: flags, exit codes, progress on a terminal, files. It may decide nothing about a run: it passes on
// data (a scenario, a seed, a mix), so that a Go test can do the same. It may not link an apiserver's libraries, since a clone's
// first run compiles everything that it links: informersim-apiserver implements `serve`.
package main
