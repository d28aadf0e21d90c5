// Package frameworks tests simtest inside other testing libraries: Ginkgo with Gomega, and rapid. It is a module of its own, because whatever the
// module of simtest requires reaches every user's go.mod.
package frameworks
