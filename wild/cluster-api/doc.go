// Package clusterapi runs the controllers of MachineSets, Machines and MachineHealthChecks of the released sigs.k8s.io/cluster-api, unmodified, under faults with simtest.
package clusterapi
