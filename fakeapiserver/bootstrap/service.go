package bootstrap

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// serviceName names the Service of the apiserver, its Endpoints and its EndpointSlice.
const serviceName = "kubernetes"

// service returns the Service of the apiserver and what goes with it but for its IPAddress, which the allocator makes. A server on a loopback address has no Endpoints: no validation
// accepts such an address, and so a real one has none, either.
func service(address netip.AddrPort) []runtime.Object {
	single, cluster := corev1.IPFamilyPolicySingleStack, corev1.ServiceInternalTrafficPolicyCluster
	all := []runtime.Object{
		&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: metav1.NamespaceDefault, Name: serviceName, Labels: map[string]string{"provider": "kubernetes", "component": "apiserver"},
			},
			Spec: corev1.ServiceSpec{
				Ports:     []corev1.ServicePort{{Name: "https", Protocol: corev1.ProtocolTCP, Port: 443, TargetPort: intstr.FromInt32(int32(address.Port()))}},
				ClusterIP: ServiceIP, IPFamilyPolicy: &single, SessionAffinity: corev1.ServiceAffinityNone, Type: corev1.ServiceTypeClusterIP,
				InternalTrafficPolicy: &cluster,
			},
		},
	}
	if ip := address.Addr().Unmap(); ip.IsValid() && !ip.IsLoopback() && !ip.IsUnspecified() {
		endpoints, slice := endpoints(ip, int32(address.Port()))
		all = append(all, endpoints, slice)
	}
	return all
}

// endpoints returns where the Service leads.
func endpoints(ip netip.Addr, port int32) (*corev1.Endpoints, *discoveryv1.EndpointSlice) {
	name, protocol, ready := "https", corev1.ProtocolTCP, true
	family := discoveryv1.AddressTypeIPv4
	if ip.Is6() {
		family = discoveryv1.AddressTypeIPv6
	}
	return &corev1.Endpoints{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: metav1.NamespaceDefault, Name: serviceName, Labels: map[string]string{discoveryv1.LabelSkipMirror: "true"},
			},
			Subsets: []corev1.EndpointSubset{{
				Addresses: []corev1.EndpointAddress{{IP: ip.String()}},
				Ports:     []corev1.EndpointPort{{Name: name, Port: port, Protocol: protocol}},
			}},
		}, &discoveryv1.EndpointSlice{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: metav1.NamespaceDefault, Name: serviceName, Labels: map[string]string{discoveryv1.LabelServiceName: serviceName},
			},
			AddressType: family,
			Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{ip.String()}, Conditions: discoveryv1.EndpointConditions{Ready: &ready}}},
			Ports:       []discoveryv1.EndpointPort{{Name: &name, Port: &port, Protocol: &protocol}},
		}
}
