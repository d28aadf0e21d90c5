package authorization

import (
	"context"

	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/kubernetes/pkg/auth/nodeidentifier"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/node"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

// nodes lets kubelets see what their Pods need. Kubernetes' authorizer keeps a graph of that up to date by informers; here it is made when a kubelet asks,
// of what is on its node. The embedded one has an empty graph: it answers what needs none.
type nodes struct {
	*node.NodeAuthorizer
	state      *state
	identifier nodeidentifier.NodeIdentifier
}

func newNodes(s *state) nodes {
	identifier := nodeidentifier.NewDefaultNodeIdentifier()
	return nodes{node.NewAuthorizer(node.NewGraph(), identifier, bootstrappolicy.NodeRules()), s, identifier}
}

// Authorize implements authorizer.Authorizer.
func (n nodes) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	name, is := n.identifier.NodeIdentity(a.GetUser())
	if !is || name == "" {
		return n.NodeAuthorizer.Authorize(ctx, a)
	}
	return node.NewAuthorizer(n.graph(name), n.identifier, bootstrappolicy.NodeRules()).Authorize(ctx, a)
}

// ConditionsAwareAuthorize implements authorizer.Authorizer.
func (n nodes) ConditionsAwareAuthorize(ctx context.Context, a authorizer.Attributes) authorizer.ConditionsAwareDecision {
	return authorizer.ConditionsAwareDecisionFromParts(n.Authorize(ctx, a))
}

// graph has what leads to a node, as the event handlers of Kubernetes' authorizer add it (graph_populator.go).
func (n nodes) graph(name string) *node.Graph {
	g := node.NewGraph()
	for _, pod := range list[*corev1.Pod](n.state, corev1.Resource("pods"), "") {
		if pod.Spec.NodeName == name {
			g.AddPod(pod)
		}
	}
	for _, volume := range list[*corev1.PersistentVolume](n.state, corev1.Resource("persistentvolumes"), "") {
		g.AddPV(volume)
	}
	for _, attachment := range list[*storagev1.VolumeAttachment](n.state, storagev1.Resource("volumeattachments"), "") {
		if attachment.Spec.NodeName == name {
			g.AddVolumeAttachment(attachment.Name, name)
		}
	}
	for _, slice := range list[*resourcev1.ResourceSlice](n.state, resourcev1.Resource("resourceslices"), "") {
		if slice.Spec.NodeName != nil && *slice.Spec.NodeName == name {
			g.AddResourceSlice(slice.Name, name)
		}
	}
	for _, asked := range list[*certificatesv1beta1.PodCertificateRequest](n.state, certificatesv1.Resource("podcertificaterequests"), "") {
		if string(asked.Spec.NodeName) == name {
			g.AddPodCertificateRequest(&certificatesv1.PodCertificateRequest{
				ObjectMeta: asked.ObjectMeta, Spec: certificatesv1.PodCertificateRequestSpec{NodeName: asked.Spec.NodeName},
			})
		}
	}
	return g
}
