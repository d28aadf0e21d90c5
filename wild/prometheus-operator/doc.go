// Package prometheusoperator runs the controller of ThanosRulers of the released github.com/prometheus-operator/prometheus-operator, unmodified, under faults
// with simtest.
package prometheusoperator
