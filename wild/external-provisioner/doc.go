// Package provisioner runs the controller that creates and deletes volumes of CSI drivers, the released
// github.com/kubernetes-csi/external-provisioner, unmodified, under faults with simtest.
package provisioner
