package builtin

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration"
	admissionregistrationrest "k8s.io/kubernetes/pkg/registry/admissionregistration/rest"
	appsrest "k8s.io/kubernetes/pkg/registry/apps/rest"
	authenticationrest "k8s.io/kubernetes/pkg/registry/authentication/rest"
	authorizationrest "k8s.io/kubernetes/pkg/registry/authorization/rest"
	autoscalingrest "k8s.io/kubernetes/pkg/registry/autoscaling/rest"
	batchrest "k8s.io/kubernetes/pkg/registry/batch/rest"
	certificatesrest "k8s.io/kubernetes/pkg/registry/certificates/rest"
	coordinationrest "k8s.io/kubernetes/pkg/registry/coordination/rest"
	discoveryrest "k8s.io/kubernetes/pkg/registry/discovery/rest"
	eventsrest "k8s.io/kubernetes/pkg/registry/events/rest"
	flowcontrolrest "k8s.io/kubernetes/pkg/registry/flowcontrol/rest"
	networkingrest "k8s.io/kubernetes/pkg/registry/networking/rest"
	noderest "k8s.io/kubernetes/pkg/registry/node/rest"
	policyrest "k8s.io/kubernetes/pkg/registry/policy/rest"
	rbacrest "k8s.io/kubernetes/pkg/registry/rbac/rest"
	resourcerest "k8s.io/kubernetes/pkg/registry/resource/rest"
	schedulingrest "k8s.io/kubernetes/pkg/registry/scheduling/rest"
	storagerest "k8s.io/kubernetes/pkg/registry/storage/rest"
	svmrest "k8s.io/kubernetes/pkg/registry/storagemigration/rest"
)

// provider makes the storages of a group, by version and then by path (deployments/status).
type provider interface {
	NewRESTStorage(serverstorage.APIResourceConfigSource, generic.RESTOptionsGetter) (genericapiserver.APIGroupInfo, error)
}

// group is an API group with the versions that a kube-apiserver serves by default, the preferred first.
type group struct {
	name     string
	versions []string
	provider provider
}

// storages makes the storages of a group's resources, and what is behind them.
func (g group) storages() (backends, genericapiserver.APIGroupInfo, error) {
	enabled := serverstorage.NewResourceConfig()
	for _, v := range g.versions {
		enabled.EnableVersions(schema.GroupVersion{Group: g.name, Version: v})
	}
	b := backends{g, map[schema.GroupResource]storage.AttrFunc{}, map[schema.GroupResource]*backend{}}
	info, err := g.provider.NewRESTStorage(enabled, b)
	if err != nil {
		err = fmt.Errorf("builtin: the storages of group %q: %w", g.name, err)
	}
	return b, info, err
}

// eventTTL is how long a kube-apiserver keeps events by default. Here they stay.
const eventTTL = time.Hour

// groups lists the groups in the order of a kube-apiserver's discovery, which is that of the aggregator's priorities
// (pkg/controlplane/apiserver/aggregator.go and cmd/kube-apiserver/app/aggregator.go).
func groups(now *current, tokens tokens, o Options) []group {
	who := o.Authorizer
	v1 := []string{"v1"}
	all := []group{
		{"", v1, core{now, tokens, who}},
		{"apps", v1, appsrest.StorageProvider{}},
		{"events.k8s.io", v1, eventsrest.RESTStorageProvider{TTL: eventTTL}},
		{"authentication.k8s.io", v1, authenticationrest.RESTStorageProvider{Authenticator: tokens, APIAudiences: authenticator.Audiences{issuer}}},
		{"authorization.k8s.io", v1, authorizationrest.RESTStorageProvider{Authorizer: who, RuleResolver: who}},
		{"autoscaling", []string{"v2", "v1"}, autoscalingrest.RESTStorageProvider{}},
		{"batch", v1, batchrest.RESTStorageProvider{}},
		{"certificates.k8s.io", v1, certificatesrest.RESTStorageProvider{Authorizer: who}},
		{"networking.k8s.io", v1, networkingrest.RESTStorageProvider{}},
		{"policy", v1, policyrest.RESTStorageProvider{}},
		{"rbac.authorization.k8s.io", v1, rbacrest.RESTStorageProvider{Authorizer: who}},
		{"storage.k8s.io", v1, storagerest.RESTStorageProvider{}},
		{"admissionregistration.k8s.io", v1, admissionregistrationrest.RESTStorageProvider{Authorizer: who, DiscoveryClient: noDiscovery{}}},
		{"scheduling.k8s.io", v1, schedulingrest.RESTStorageProvider{}},
		{"coordination.k8s.io", v1, coordinationrest.RESTStorageProvider{}},
		{"node.k8s.io", v1, noderest.RESTStorageProvider{}},
		{"discovery.k8s.io", v1, discoveryrest.StorageProvider{}},
		{"resource.k8s.io", v1, resourcerest.RESTStorageProvider{NamespaceClient: noNamespaces{}, Authorizer: who}},
		{"flowcontrol.apiserver.k8s.io", v1, flowcontrolrest.RESTStorageProvider{}},
		{"storagemigration.k8s.io", v1, svmrest.RESTStorageProvider{}},
	}
	if o.Aggregation {
		all = append(all, group{apiregistration.GroupName, v1, aggregator{}})
	}
	return all
}

// storageVersions has the resources that are stored in another version than the preferred one of their group
// (pkg/kubeapiserver/default_storage_factory_builder.go).
var storageVersions = map[string]string{
	"clustertrustbundles.certificates.k8s.io":          "v1beta1",
	"podcertificaterequests.certificates.k8s.io":       "v1beta1",
	"storageversionmigrations.storagemigration.k8s.io": "v1beta1",
	"devicetaintrules.resource.k8s.io":                 "v1beta2",
}

// ofResource returns the storages of a resource by subresource, "" for its own.
func ofResource(all map[string]rest.Storage, plural string) map[string]rest.Storage {
	own := map[string]rest.Storage{}
	for path, st := range all { // order: a copy into a map
		name, sub, _ := strings.Cut(path, "/")
		if name == plural {
			own[sub] = st
		}
	}
	return own
}
