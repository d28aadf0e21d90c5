// Package realserver runs a real Kubernetes apiserver inside the calling process: the apiextensions server of
// k8s.io/apiextensions-apiserver over an embedded etcd, with the watch cache on and every server-side feature gate at its
// default. It is the reference for fakeapiserver.
//
// It owns one etcd member in a temporary directory, one apiserver, and a plain-HTTP listener on loopback that keeps its
// address when the apiserver behind it is restarted.
//
// It must not change the apiserver's answers: no admission plugin, filter or handler of its own. The only exceptions are
// the absence of authentication and authorization, an etcd that does not fsync unless asked to, and custom resource
// definitions that are written to etcd as already established, because a server delays creates for two seconds after it
// has established one.
package realserver
