package builtin

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Making the resources is what the start of a server pays for them.
func BenchmarkResources(b *testing.B) {
	for b.Loop() {
		if len(Resources(Options{})) == 0 {
			b.Fatal("no resources")
		}
	}
}

// A create of a Deployment: decoded, defaulted, admitted, validated, encoded and read back.
func BenchmarkCreateDeployment(b *testing.B) {
	s := serve(b, "deployments.apps", "v1")
	for b.Loop() {
		if _, err := s.create(deployment); err != nil {
			b.Fatal(err)
		}
	}
}

// A create of a Service beside 200 others: the allocators pass over the addresses and node ports that those have.
func BenchmarkCreateService(b *testing.B) {
	s := serve(b, "services", "v1")
	for i := range 200 {
		s.objs = append(s.objs, &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("s", i)},
			Spec: corev1.ServiceSpec{
				ClusterIPs: []string{fmt.Sprint("10.0.0.", lowerAddresses+1+i)},
				Ports:      []corev1.ServicePort{{NodePort: int32(nodePorts.Base + lowerPorts + i)}},
			},
		})
	}
	others := s.objs
	for b.Loop() {
		s.objs = others
		if _, err := s.create(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"type":"NodePort","ports":[{"port":80}]}}`); err != nil {
			b.Fatal(err)
		}
	}
}
