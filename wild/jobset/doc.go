// Package jobset runs the controllers and the webhooks of the released sigs.k8s.io/jobset, unmodified, under faults with simtest.
package jobset
