// Package controllerruntime runs managers of the released sigs.k8s.io/controller-runtime, unmodified, under faults with simtest.
package controllerruntime
