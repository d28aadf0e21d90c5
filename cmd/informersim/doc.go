// Command informersim runs Kubernetes informers against a deterministic fake apiserver, with faults, and checks them.
//
// It owns what a person meets: flags, exit codes, progress on a terminal, files. It may decide nothing about a run: what it
// passes on is data (a scenario, a seed, a mix), so that a Go test can do the same.
package main
