// Package attacher runs the controller that attaches and detaches volumes of CSI drivers, the released
// github.com/kubernetes-csi/external-attacher, unmodified, under faults with simtest.
package attacher
