// Command informersim-kubectl is Kubernetes' own kubectl, built from k8s.io/kubectl. The kubectl that `informersim assets` writes
// becomes this program, which its first start builds, so that only who uses kubectl pays for it.
package main
