// Package kueue runs the controllers, the scheduler and the webhooks of the released sigs.k8s.io/kueue, unmodified, under faults with simtest.
package kueue
