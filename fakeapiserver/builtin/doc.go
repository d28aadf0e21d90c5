// Package builtin serves the kinds that a kube-apiserver serves by default, by Kubernetes' own code.
//
//	reg := types.NewRegistry()
//	err := reg.Add(builtin.Resources(builtin.Options{})...)
//
// The resources, their subresources, verbs, short names and categories are those of the REST storages in k8s.io/kubernetes (table.go lists
// what is asked for which groups). So are defaults, conversion between versions, preparation, validation, warnings, immutability, generation,
// what deletes do and answer, printer columns and field selectors: each kind is a [types.Storage] around its storage, whose backend keeps
// nothing. It reads the live object from the [types.Write], and what would be written is the [types.Outcome].
//
// Objects are Go types of k8s.io/api in their storage version, as they come out of etcd: encoded as protobuf, decoded, defaulted.
//
// # Determinism
//
// Kubernetes' code draws uids and reads the clock. What it has made of them is replaced by the Write's uid and time before anyone sees it
// (system.go). Cluster IPs and node ports are allocated in order, and stored nowhere but in the Services (services.go).
//
// # What may not be done here
//
// Keep state of a cluster, or start a goroutine. The package links most of a kube-apiserver (700 packages), so only the serving binary and
// tests may import it.
package builtin
