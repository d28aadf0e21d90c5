// Package apisurface reads a package's exported API from its source, so that a test can compare a drop-in package with the
// one it replaces. It is for tests, and knows nothing about what the packages do.
package apisurface
