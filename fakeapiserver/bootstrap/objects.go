package bootstrap

import (
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	flowcontrol "k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/client-go/kubernetes/scheme"
)

// Client is the User-Agent of the requests that create the objects, and so the manager of their fields.
const Client = "kube-apiserver"

// ServiceRange is the range of cluster IPs, a real server's default. ServiceIP is its first address, which the Service of the
// apiserver has.
const (
	ServiceRange = "10.0.0.0/24"
	ServiceIP    = "10.0.0.1"
)

// Object is an object of a fresh cluster.
type Object struct {
	// Object is the object to create, with its kind set.
	Object runtime.Object
	// Owner is the manager of its fields, "" for the apiserver itself.
	Owner string
	// Status is an object with the status to apply afterwards, by Manager; nil if there is none to set.
	Status  map[string]any
	Manager string
}

// Options describe the cluster.
type Options struct {
	// Now is the time of conditions and dates.
	Now time.Time
	// Address is where the server listens.
	Address netip.AddrPort
	// Host is the name of the machine that the server runs on, by which the Lease of its identity is named. There is none without it.
	Host string
	// Policy has the roles and bindings of RBAC.
	Policy []runtime.Object
}

// Namespaces are the namespaces of a fresh cluster.
var Namespaces = []string{metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease, metav1.NamespaceDefault}

// Objects returns the objects of a fresh cluster in the order in which to create them.
func Objects(o Options) []Object {
	var all []Object
	add := func(objects ...runtime.Object) {
		for _, obj := range objects {
			all = append(all, Object{Object: withKind(obj)})
		}
	}
	for _, name := range Namespaces {
		add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	all = append(all, serviceRange(o.Now))
	add(service(o.Address)...)
	add(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "kube-apiserver-legacy-service-account-token-tracking"},
		Data:       map[string]string{"since": o.Now.UTC().Format(time.DateOnly)},
	})
	if o.Host != "" {
		add(identity(o))
	}
	preempts := corev1.PreemptLowerPriority
	add(&schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: "system-node-critical"}, Value: 2_000_001_000, PreemptionPolicy: &preempts,
		Description: "Used for system critical pods that must not be moved from their current node.",
	}, &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: "system-cluster-critical"}, Value: 2_000_000_000, PreemptionPolicy: &preempts,
		Description: "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
	})
	for _, level := range slices.Concat(flowcontrol.SuggestedPriorityLevelConfigurations, flowcontrol.MandatoryPriorityLevelConfigurations) {
		all = append(all, Object{Object: withKind(level.DeepCopy()), Owner: flowProducer})
	}
	for _, flow := range slices.Concat(flowcontrol.SuggestedFlowSchemas, flowcontrol.MandatoryFlowSchemas) {
		all = append(all, flowSchema(flow, o.Now))
	}
	add(o.Policy...)
	return all
}

// withKind sets an object's kind, which the libraries' own objects lack.
func withKind(obj runtime.Object) runtime.Object {
	if kinds, _, err := scheme.Scheme.ObjectKinds(obj); err == nil && len(kinds) > 0 {
		obj.GetObjectKind().SetGroupVersionKind(kinds[0])
	}
	return obj
}

func condition(kind schema.GroupVersionKind, name string, c map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind, "metadata": map[string]any{"name": name},
		"status": map[string]any{"conditions": []any{c}},
	}
}

func at(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// serviceRange returns the range of cluster IPs, which is ready.
func serviceRange(now time.Time) Object {
	const name = "kubernetes"
	return Object{
		Object: withKind(&networkingv1.ServiceCIDR{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{ServiceRange}},
		}),
		Status: condition(networkingv1.SchemeGroupVersion.WithKind("ServiceCIDR"), name, map[string]any{
			"type": networkingv1.ServiceCIDRConditionReady, "status": "True", "lastTransitionTime": at(now),
			"message": "Kubernetes default Service CIDR is ready",
		}),
		Manager: "kubernetes-service-cidr-controller",
	}
}

// flowProducer is the manager of flow schemas and priority levels.
const flowProducer = "api-priority-and-fairness-config-producer-v1"

// flowSchema returns a flow schema, whose priority level exists.
func flowSchema(flow *flowcontrolv1.FlowSchema, now time.Time) Object {
	return Object{
		Object: withKind(flow.DeepCopy()), Owner: flowProducer,
		Status: condition(flowcontrolv1.SchemeGroupVersion.WithKind("FlowSchema"), flow.Name, map[string]any{
			"type": string(flowcontrolv1.FlowSchemaConditionDangling), "status": "False", "lastTransitionTime": at(now), "reason": "Found",
			"message": "This FlowSchema references the PriorityLevelConfiguration object named \"" + flow.Spec.PriorityLevelConfiguration.Name + "\" and it exists",
		}),
		Manager: "api-priority-and-fairness-config-consumer-v1",
	}
}
