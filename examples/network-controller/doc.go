// Package network contains the three programs that informer tutorials build: a controller of a custom resource, Network, with a
// status and a ConfigMap for each; a client that lists nodes; and a watcher of Deployments. Its tests run them unmodified under faults
// with simtest, along with variants of the controller that contain common mistakes ([Mistakes]), each of which the same test finds
// within the default number of seeds.
package network
