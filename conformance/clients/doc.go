// Package clients checks informers of other languages against `informersim serve`: after faults, their caches must be what a list says. Its
// tests start the programs in node and python; those skip, with the reason, where a language or its packages are missing.
package clients
