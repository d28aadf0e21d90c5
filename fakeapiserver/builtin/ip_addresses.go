package builtin

import (
	"net"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// An IPAddress says whose a cluster IP is. A kube-apiserver's allocator creates it before it stores the Service, and deletes it before it stores the
// Service without the address, or once that is gone. Services stay the record of what is allocated here; an IPAddress that a client has created takes its
// address, too.

// addressesResource is what IPAddresses are.
var addressesResource = networkingv1.Resource("ipaddresses")

// addressManager is who manages the IPAddresses of Services.
const addressManager = "ipallocator.k8s.io"

// clusterIPs are the addresses that a Service has of the range.
func clusterIPs(obj runtime.Object) []string {
	s, ok := obj.(*corev1.Service)
	if !ok {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Spec.ClusterIPs), func(ip string) bool { return ip == "" || ip == corev1.ClusterIPNone })
}

// addressEffects returns what the write of a Service does to IPAddresses.
func (s *session) addressEffects() (effects []types.Effect) {
	if !s.kind.now.ipAddresses || s.write.DryRun || s.kind.gvk.Kind != "Service" || s.stored == nil && !s.deleted {
		return nil
	}
	had, has := clusterIPs(s.write.Live), clusterIPs(s.stored)
	if s.deleted {
		has = nil
	}
	for _, ip := range has {
		if slices.Contains(had, ip) || s.write.Get != nil && s.write.Get(addressesResource, "", ip) != nil {
			continue
		}
		service, ok := s.stored.(metav1.Object)
		if !ok {
			continue
		}
		effects = append(effects, types.Effect{Resource: addressesResource, Create: &networkingv1.IPAddress{
			TypeMeta: metav1.TypeMeta{APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "IPAddress"},
			ObjectMeta: metav1.ObjectMeta{Name: ip, Labels: map[string]string{
				networkingv1.LabelIPAddressFamily: string(corev1.IPv4Protocol), networkingv1.LabelManagedBy: addressManager,
			}},
			Spec: networkingv1.IPAddressSpec{ParentRef: &networkingv1.ParentReference{
				Resource: s.kind.resource.Plural, Namespace: service.GetNamespace(), Name: service.GetName(),
			}},
		}})
	}
	for _, ip := range had {
		if !slices.Contains(has, ip) {
			effects = append(effects, types.Effect{Resource: addressesResource, Delete: ip, After: s.deleted})
		}
	}
	return effects
}

// stands reports whether an IPAddress stands for an address.
func (a addresses) stands(ip string) bool {
	return a.ipAddresses && a.session.write.Get != nil && a.session.write.Get(addressesResource, "", ip) != nil
}

// ownerless returns why no IPAddress can be made for a Service without a name: addresses are allocated before names are looked at.
func (a addresses) ownerless(ip net.IP) error {
	if !a.ipAddresses || a.session.object == nil || a.session.object.GetName() != "" {
		return nil
	}
	kind := networkingv1.SchemeGroupVersion.WithKind("IPAddress").GroupKind()
	return apierrors.NewInvalid(kind, ip.String(), field.ErrorList{field.Required(field.NewPath("spec", "parentRef", "name"), "")})
}
