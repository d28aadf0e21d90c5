//go:build tools

package kubernetes

// These are required for what reads the whole module graph, as in the root module (fakeapiserver/builtin/staging.go).
import (
	_ "k8s.io/cli-runtime/pkg/resource"
	_ "k8s.io/cluster-bootstrap/token/api"
	_ "k8s.io/cri-api/pkg/errors"
	_ "k8s.io/cri-client/pkg"
	_ "k8s.io/cri-streaming/pkg/streaming"
	_ "k8s.io/externaljwt/apis/v1"
	_ "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	_ "k8s.io/kube-proxy/config/v1alpha1"
	_ "k8s.io/kubectl/pkg/util/podutils"
	_ "k8s.io/pod-security-admission/api"
	_ "k8s.io/sample-apiserver/pkg/apis/wardle/v1beta1"
)
