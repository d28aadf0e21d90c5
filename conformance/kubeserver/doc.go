// Package kubeserver launches a real kube-apiserver of Kubernetes v1.37 inside the calling process: the aggregator, the
// built-in kinds and the apiextensions server behind one handler, over the etcd of package realserver.
//
// It owns the flags with which it runs: the defaults, except where doc comments of Launch say otherwise. A request without
// credentials is an administrator's.
//
// It must not change the server's answers, and it is the only package here that links k8s.io/kubernetes, which takes minutes
// to compile.
package kubeserver
