// Package lws runs the controllers and the webhooks of the released sigs.k8s.io/lws, unmodified, under faults with simtest.
package lws
