// Package mpioperator runs the controller of the released github.com/kubeflow/mpi-operator, unmodified, under faults with simtest.
package mpioperator
