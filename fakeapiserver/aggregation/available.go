package aggregation

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// check writes the condition Available of an APIService, if it has changed: kube-aggregator's controllers/status.
func (s *Server) check(name string) error {
	live := s.get(name)
	if live == nil {
		return nil
	}
	next := live.DeepCopy()
	condition := helper.NewLocalAvailableAPIServiceCondition()
	if live.Spec.Service != nil {
		condition = s.remote(live)
	}
	condition.LastTransitionTime = metav1.NewTime(s.cluster.Now().UTC().Truncate(time.Second))
	helper.SetAPIServiceCondition(next, condition)
	if equality.Semantic.DeepEqual(live.Status, next.Status) {
		return nil
	}
	return s.api.Effect(types.Effect{Resource: apiServices, Put: withKind(next), Subresource: types.Status})
}

// remote returns the condition of an APIService of another server: why it cannot be reached.
func (s *Server) remote(a *apiregistrationv1.APIService) apiregistrationv1.APIServiceCondition {
	to := a.Spec.Service
	unavailable := func(reason, format string, args ...any) apiregistrationv1.APIServiceCondition {
		return apiregistrationv1.APIServiceCondition{
			Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionFalse, Reason: reason, Message: fmt.Sprintf(format, args...),
		}
	}
	obj, _ := s.cluster.Store().Get(s.ids[services], to.Namespace, to.Name)
	service, ok := obj.(*corev1.Service)
	if !ok {
		return unavailable("ServiceNotFound", "service/%s in %q is not present", to.Name, to.Namespace)
	}
	if service.Spec.Type == corev1.ServiceTypeClusterIP {
		at := slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == *to.Port })
		if at < 0 {
			return unavailable("ServicePortError", "service/%s in %q is not listening on port %d", to.Name, to.Namespace, *to.Port)
		}
		port := service.Spec.Ports[at].Name
		switch endpoints := s.endpoints(to.Namespace, to.Name); {
		case len(endpoints) == 0:
			return unavailable("EndpointsNotFound", "cannot find endpointslices for service/%s in %q", to.Name, to.Namespace)
		case !slices.ContainsFunc(endpoints, func(e *discoveryv1.EndpointSlice) bool { return leads(e, port) }):
			return unavailable("MissingEndpoints", "endpointslices for service/%s in %q have no addresses with port name %q", to.Name, to.Namespace, port)
		}
	}
	return unavailable("FailedDiscoveryCheck", "failing or missing response from %[1]s: Get %[1]q: context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
		fmt.Sprintf("https://%s:%d/apis/%s/%s", address(service), *to.Port, a.Spec.Group, a.Spec.Version))
}

// address returns where a real server would look for what is behind a Service.
func address(s *corev1.Service) string {
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		return s.Spec.ExternalName
	}
	return s.Spec.ClusterIP
}

// endpoints returns the EndpointSlices of a Service.
func (s *Server) endpoints(namespace, name string) (all []*discoveryv1.EndpointSlice) {
	for _, e := range walk[*discoveryv1.EndpointSlice](s, slicesOf) {
		if e.Namespace == namespace && e.Labels[discoveryv1.LabelServiceName] == name {
			all = append(all, e)
		}
	}
	return all
}

// leads reports whether an EndpointSlice leads to anything by a port.
func leads(e *discoveryv1.EndpointSlice, port string) bool {
	return slices.ContainsFunc(e.Endpoints, func(e discoveryv1.Endpoint) bool { return e.Conditions.Ready == nil || *e.Conditions.Ready }) &&
		slices.ContainsFunc(e.Ports, func(p discoveryv1.EndpointPort) bool { return p.Name != nil && *p.Name == port && p.Port != nil })
}
