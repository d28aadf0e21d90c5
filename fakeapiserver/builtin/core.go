package builtin

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/client-go/discovery"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/kubelet/client"
	"k8s.io/kubernetes/pkg/registry/core/componentstatus"
	configmapstore "k8s.io/kubernetes/pkg/registry/core/configmap/storage"
	endpointstore "k8s.io/kubernetes/pkg/registry/core/endpoint/storage"
	eventstore "k8s.io/kubernetes/pkg/registry/core/event/storage"
	limitrangestore "k8s.io/kubernetes/pkg/registry/core/limitrange/storage"
	namespacestore "k8s.io/kubernetes/pkg/registry/core/namespace/storage"
	nodestore "k8s.io/kubernetes/pkg/registry/core/node/storage"
	pvstore "k8s.io/kubernetes/pkg/registry/core/persistentvolume/storage"
	pvcstore "k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim/storage"
	podstore "k8s.io/kubernetes/pkg/registry/core/pod/storage"
	podtemplatestore "k8s.io/kubernetes/pkg/registry/core/podtemplate/storage"
	rcstore "k8s.io/kubernetes/pkg/registry/core/replicationcontroller/storage"
	quotastore "k8s.io/kubernetes/pkg/registry/core/resourcequota/storage"
	secretstore "k8s.io/kubernetes/pkg/registry/core/secret/storage"
	"k8s.io/kubernetes/pkg/registry/core/service/ipallocator"
	servicestore "k8s.io/kubernetes/pkg/registry/core/service/storage"
	serviceaccountstore "k8s.io/kubernetes/pkg/registry/core/serviceaccount/storage"
)

// core makes the storages of the core group, as pkg/registry/core/rest does around clients, informers and controllers.
type core struct {
	now    *current
	tokens tokens
	who    authorizer.Authorizer
}

// NewRESTStorage implements provider.
func (c core) NewRESTStorage(_ serverstorage.APIResourceConfigSource, o generic.RESTOptionsGetter) (genericapiserver.APIGroupInfo, error) {
	m := &storageMap{now: c.now, tokens: c.tokens, who: c.who, options: o, all: map[string]rest.Storage{}}
	one(m, "configmaps", configmapstore.NewREST)
	one(m, "endpoints", endpointstore.NewREST)
	one(m, "limitranges", limitrangestore.NewREST)
	one(m, "podtemplates", podtemplatestore.NewREST)
	one(m, "secrets", secretstore.NewREST)
	one(m, "events", func(o generic.RESTOptionsGetter) (*eventstore.REST, error) {
		return eventstore.NewREST(o, uint64(eventTTL.Seconds()))
	})
	two(m, "persistentvolumes", pvstore.NewREST)
	two(m, "persistentvolumeclaims", pvcstore.NewREST)
	two(m, "resourcequotas", quotastore.NewREST)
	m.namespaces()
	m.serviceAccounts()
	m.replicationControllers()
	m.podsAndNodes()
	m.all["componentstatuses"] = componentstatus.NewStorage(func() map[string]componentstatus.Server { return nil })
	return genericapiserver.APIGroupInfo{VersionedResourcesStorageMap: map[string]map[string]rest.Storage{"v1": m.all}}, m.err
}

// storageMap collects storages and the first error.
type storageMap struct {
	now     *current
	tokens  tokens
	who     authorizer.Authorizer
	options generic.RESTOptionsGetter
	all     map[string]rest.Storage
	err     error
}

func (m *storageMap) failed(err error) bool {
	if err != nil && m.err == nil {
		m.err = err
	}
	return err != nil
}

func one[S rest.Storage](m *storageMap, plural string, make func(generic.RESTOptionsGetter) (S, error)) {
	if s, err := make(m.options); !m.failed(err) {
		m.all[plural] = s
	}
}

func two[S, T rest.Storage](m *storageMap, plural string, make func(generic.RESTOptionsGetter) (S, T, error)) {
	if s, status, err := make(m.options); !m.failed(err) {
		m.all[plural], m.all[plural+"/status"] = s, status
	}
}

func (m *storageMap) namespaces() {
	if s, status, finalize, err := namespacestore.NewREST(m.options); !m.failed(err) {
		m.all["namespaces"], m.all["namespaces/status"], m.all["namespaces/finalize"] = s, status, finalize
	}
}

func (m *storageMap) serviceAccounts() {
	deny := authorizerfactory.NewAlwaysDenyAuthorizer()
	s, err := serviceaccountstore.NewREST(m.options, m.tokens, authenticator.Audiences{issuer}, deny, 0,
		reader{corev1.Resource("pods"), true}, reader{corev1.Resource("secrets"), true}, reader{corev1.Resource("nodes"), false}, nil, nil, false, 0)
	if !m.failed(err) {
		m.all["serviceaccounts"], m.all["serviceaccounts/token"] = s, s.Token
	}
}

func (m *storageMap) replicationControllers() {
	if s, err := rcstore.NewStorage(m.options); !m.failed(err) {
		const plural = "replicationcontrollers"
		m.all[plural], m.all[plural+"/status"], m.all[plural+"/scale"] = s.Controller, s.Status, s.Scale
	}
}

func (m *storageMap) podsAndNodes() {
	nodes, err := nodestore.NewStorage(m.options, client.KubeletClientConfig{}, nil)
	if m.failed(err) {
		return
	}
	m.all["nodes"], m.all["nodes/status"], m.all["nodes/proxy"] = nodes.Node, nodes.Status, nodes.Proxy
	pods, err := podstore.NewStorage(m.options, nodes.KubeletConnectionInfo, nil, budgets{m.now}, m.who)
	if m.failed(err) {
		return
	}
	m.all["bindings"] = pods.LegacyBinding
	for sub, s := range map[string]rest.Storage{ // order: a copy into a map
		"": pods.Pod, "/attach": pods.Attach, "/binding": pods.Binding, "/ephemeralcontainers": pods.EphemeralContainers, "/eviction": pods.Eviction,
		"/exec": pods.Exec, "/log": pods.Log, "/portforward": pods.PortForward, "/proxy": pods.Proxy, "/resize": pods.Resize, "/status": pods.Status,
	} {
		m.all["pods"+sub] = s
	}
	m.services(pods.Pod)
}

func (m *storageMap) services(pods servicestore.PodStorage) {
	ips := map[api.IPFamily]ipallocator.Interface{api.IPv4Protocol: addresses{m.now}}
	s, status, proxy, err := servicestore.NewREST(m.options, api.IPv4Protocol, ips, ports{m.now}, nil, pods, nil)
	if !m.failed(err) {
		m.all["services"], m.all["services/status"], m.all["services/proxy"] = s, status, proxy
	}
}

// noDiscovery is a discovery client that finds nothing: what a policy's parameters are is not checked.
type noDiscovery struct{ discovery.DiscoveryInterface }

// ServerResourcesForGroupVersion implements discovery.DiscoveryInterface.
func (noDiscovery) ServerResourcesForGroupVersion(gv string) (*metav1.APIResourceList, error) {
	return nil, apierrors.NewNotFound(schema.GroupResource{}, gv)
}

// noNamespaces is a client of namespaces that have no labels: none allows administrative access to devices.
type noNamespaces struct {
	corev1client.NamespaceInterface
}

// Get implements corev1client.NamespaceInterface.
func (noNamespaces) Get(_ context.Context, name string, _ metav1.GetOptions) (*corev1.Namespace, error) {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, nil
}
