// Package kubernetes runs Kubernetes' own controllers, those of the released k8s.io/kubernetes, unmodified, under faults with simtest.
//
// Each has a test file with what its documentation promises. docs/wild.md says what was looked for, and for how long; what was found is
// in docs/findings.md.
package kubernetes
