// Package network has the three programs that tutorials on informers build: a controller of a custom resource, Network; a
// client that lists nodes; and a watcher of Deployments. Its tests run them, as they are, under faults with simtest; and
// variants of the controller with mistakes that are often made, which the same test finds.
package network
