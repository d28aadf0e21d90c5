// Package controllermanager runs Kubernetes' own controllers, as kube-controller-manager does, against a server in the same process.
//
// The controllers are k8s.io/kubernetes' (pkg/controller), wired as cmd/kube-controller-manager/app wires them and with its defaults: that
// package itself links cloud providers and volume plugins. They are programs of goroutines and real clocks, so they belong to what is served
// in real time. The package may know nothing of the server but its http.RoundTripper.
//
//	m, err := controllermanager.Start(basic.Options{Names: []string{"deployment", "replicaset"}, Transport: …})
//	defer m.Stop()
package controllermanager
