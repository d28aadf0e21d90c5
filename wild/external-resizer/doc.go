// Package resizer runs the controller that expands volumes of CSI drivers, the released github.com/kubernetes-csi/external-resizer, unmodified, under
// faults with simtest.
package resizer
