// Package website contains a controller written with controller-runtime: a manager, its cache and client, and a reconciler
// that owns Deployments. Its tests run it unmodified under faults with simtest, along with variants that contain common
// mistakes.
package website
