// Package apisurface reads what a package exports from its source, so that a test can hold a drop-in package against the one
// it replaces. It is for tests; it knows nothing of what the packages do.
package apisurface
