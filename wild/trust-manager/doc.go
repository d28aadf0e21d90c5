// Package trustmanager runs the controller of Bundles of the released github.com/cert-manager/trust-manager, unmodified, under faults with simtest.
package trustmanager
