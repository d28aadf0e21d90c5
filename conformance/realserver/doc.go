// Package realserver runs a real Kubernetes apiserver inside the calling process: the apiextensions server of
// k8s.io/apiextensions-apiserver over an embedded etcd, the watch cache on, every server-side feature gate at its
// default. It is the reference that fakeapiserver is held against.
//
// It owns one etcd member in a temporary folder, one apiserver, and a plain-HTTP listener on loopback that keeps its
// address while the apiserver behind it is restarted.
//
// It must not change what the apiserver answers: no admission plugin, filter or handler of its own. The only liberties
// taken are the absence of authentication and authorization, an etcd that does not fsync unless asked to, and custom
// resource definitions that are written to etcd as already established, because a server holds creates back for two
// seconds after it has established one.
package realserver
