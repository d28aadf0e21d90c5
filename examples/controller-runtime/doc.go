// Package website has a controller written with controller-runtime: a manager, its cache and client, and a reconciler that
// owns Deployments. Its tests run it, as it is, under faults with simtest, and so they do variants of it with mistakes that
// are often made.
package website
