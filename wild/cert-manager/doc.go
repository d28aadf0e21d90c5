// Package certmanager runs the CA injector of the released github.com/cert-manager/cert-manager, unmodified, under faults with simtest.
package certmanager
