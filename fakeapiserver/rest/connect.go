package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// connections are the subresources for which a real server asks a kubelet, or what runs behind a Service. Nothing runs here.
var connections = []string{"attach", "exec", "log", "portforward", "proxy"}

// connects reports whether the request is one that a kubelet would answer.
func (c *call) connects() bool {
	return !c.resource.Custom && slices.Contains(connections, c.target.subresource)
}

// connect answers such a request: as a real server does before it gets to the kubelet, or that there is none (S42).
func (c *call) connect(query url.Values) {
	live := c.live()
	pod, _ := live.(*corev1.Pod)
	switch sub := c.target.subresource; {
	case live == nil && c.resource.Plural == "services":
		c.fail(c.noEndpoints())
	case live == nil:
		c.fail(apierrors.NewNotFound(c.resource.GroupResource(), c.target.name))
	case pod != nil && sub == "proxy" && pod.Status.PodIP == "":
		c.fail(apierrors.NewBadRequest("address not allowed"))
	case pod != nil && sub == "proxy":
		c.fail(c.noKubelet())
	case pod != nil:
		c.connectPod(pod, query)
	case c.resource.Plural == "services" && !c.hasEndpoints():
		c.fail(c.noEndpoints())
	default:
		c.fail(c.noKubelet())
	}
}

// connectPod answers what is to go to the kubelet of a Pod's node.
func (c *call) connectPod(pod *corev1.Pod, query url.Values) {
	if sub := c.target.subresource; sub != "portforward" {
		if err := containerError(pod, query.Get("container")); err != nil {
			c.fail(err)
			return
		}
	}
	switch {
	case pod.Spec.NodeName == "" && c.target.subresource == "log":
		c.respond(http.StatusNoContent, http.Header{}, nil) // a Pod that nothing has started yet has an empty log
	case pod.Spec.NodeName == "":
		c.fail(apierrors.NewBadRequest(fmt.Sprintf("pod %s does not have a host assigned", pod.Name)))
	default:
		c.fail(c.noKubelet())
	}
}

// containerError returns the 400 for a container that a Pod does not have, or that it does not say which of several is meant.
func containerError(pod *corev1.Pod, name string) error {
	var all []string
	for i := range pod.Spec.InitContainers {
		all = append(all, pod.Spec.InitContainers[i].Name)
	}
	for i := range pod.Spec.Containers {
		all = append(all, pod.Spec.Containers[i].Name)
	}
	for i := range pod.Spec.EphemeralContainers {
		all = append(all, pod.Spec.EphemeralContainers[i].Name)
	}
	switch {
	case name == "" && len(pod.Spec.Containers) == 1 || slices.Contains(all, name):
		return nil
	case name == "" && len(pod.Spec.Containers) == 0:
		return apierrors.NewBadRequest(fmt.Sprintf("a container name must be specified for pod %s", pod.Name))
	case name != "":
		return apierrors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", name, pod.Name))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("a container name must be specified for pod %s, choose one of: %s", pod.Name, all))
}

// hasEndpoints reports whether anything says where a Service leads.
func (c *call) hasEndpoints() bool {
	id, ok := c.server.cluster.FindResource(corev1.Resource("endpoints"))
	if !ok {
		return false
	}
	endpoints, _ := c.server.live(id, c.target.namespace, c.target.name).(*corev1.Endpoints)
	return endpoints != nil && len(endpoints.Subsets) > 0
}

func (c *call) noEndpoints() error {
	return apierrors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", c.target.name))
}

// noKubelet says why there is nothing to connect to.
func (c *call) noKubelet() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotImplemented, Reason: "NotImplemented",
		Message: fmt.Sprintf("there is no kubelet here and nothing runs: %s %q has no %s", c.resource.Plural, c.target.name, c.target.subresource),
		Details: &metav1.StatusDetails{Group: c.resource.Group, Kind: c.resource.Plural, Name: c.target.name},
	}}
}
