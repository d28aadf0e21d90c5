// Command kubectl is Kubernetes' own command line, built from k8s.io/kubectl, so that the conformance scripts need
// nothing but Go.
package main
