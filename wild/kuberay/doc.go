// Package kuberay runs the controller of RayClusters of the released github.com/ray-project/kuberay/ray-operator, unmodified, under faults with simtest.
package kuberay
