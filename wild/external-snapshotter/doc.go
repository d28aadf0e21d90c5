// Package snapshotter runs the snapshot controller of Kubernetes' CSI project, the released
// github.com/kubernetes-csi/external-snapshotter, unmodified, under faults with simtest.
package snapshotter
