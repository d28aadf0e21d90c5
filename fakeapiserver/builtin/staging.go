//go:build tools

package builtin

// k8s.io/kubernetes requires the modules that are published from its tree at v0.0.0, which does not exist; its own go.mod replaces them, and that
// counts for nobody else. Those of them that nothing here imports are required through this file, which no build has: otherwise go list -m all, go
// doc and whatever else reads the whole module graph fail.
import (
	_ "k8s.io/cloud-provider"
	_ "k8s.io/cluster-bootstrap/token/api"
	_ "k8s.io/cri-streaming/pkg/streaming"
	_ "k8s.io/externaljwt/apis/v1"
	_ "k8s.io/kube-controller-manager/config/v1alpha1"
	_ "k8s.io/kube-proxy/config/v1alpha1"
	_ "k8s.io/sample-apiserver/pkg/apis/wardle/v1beta1"
)
