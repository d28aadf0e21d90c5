// Package resources holds the definitions of the custom resources that the conformance probes use and the names of the
// built-in ones, and nothing else, so that a test that only needs them does not link an apiserver.
//
// Gizmos are namespaced, with status and scale subresources, a selectable field `.spec.color`, defaults, list types
// and CEL rules. Sprockets are cluster-scoped and have no subresources. Both are in conformance.informersim.dev/v1.
package resources
