// Package cloudprovider runs the controllers of a cloud controller manager that look after Nodes and their routes, those of the released
// k8s.io/cloud-provider, unmodified, under faults with simtest.
package cloudprovider
