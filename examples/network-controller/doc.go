// Package network contains the three programs that informer tutorials build: a controller of a custom resource, Network; a
// client that lists nodes; and a watcher of Deployments. Its tests run them unmodified under faults with simtest, along with
// variants of the controller that contain common mistakes, which the same test finds.
package network
