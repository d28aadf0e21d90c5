// Package suites runs the test suites of another module that use envtest, and reads what Ginkgo reports of them.
package suites
