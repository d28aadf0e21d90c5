// Package clusterapi runs the controllers of MachineSets and Machines of the released sigs.k8s.io/cluster-api, unmodified, under faults with simtest.
package clusterapi
