package builtin

import (
	"fmt"
	"slices"
	"sync"

	"github.com/emicklei/go-restful/v3"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	definitionstore "k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints"
	"k8s.io/apiserver/pkg/endpoints/discovery"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/routes"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration"
	kuberoutes "k8s.io/kubernetes/pkg/routes"
)

// webServices returns the routes of the servers that a kube-apiserver consists of, in the order in which their documents are merged: the
// aggregator, that of the built-in groups, that of CustomResourceDefinitions. They only describe, the same for every server: no request is served by
// them, and nothing changes them.
var webServices = sync.OnceValues(makeWebServices)

func makeWebServices() ([]*restful.Container, error) {
	signer, err := newSigner()
	if err != nil {
		return nil, err
	}
	now := &current{types: newTypeTable()}
	all := groups(now, tokens{now, signer}, Options{Aggregation: true, Authorizer: authorizerfactory.NewAlwaysAllowAuthorizer()})
	at := slices.IndexFunc(all, func(g group) bool { return g.name == apiregistration.GroupName })
	extensions := extensionsScheme()
	var containers []*restful.Container
	for _, server := range []struct {
		scheme *runtime.Scheme
		groups []group
	}{
		{scheme, []group{all[at]}},
		{scheme, slices.Concat(all[:at], all[at+1:])},
		{extensions, []group{{apiextensions.GroupName, []string{"v1"}, definitionStorages{extensions}}}},
	} {
		c := restful.NewContainer()
		c.Router(restful.CurlyRouter{})
		codecs := serializer.NewCodecFactory(server.scheme)
		for _, g := range server.groups {
			if err := addGroup(c, g, server.scheme, codecs); err != nil {
				return nil, err
			}
		}
		if len(server.groups) > 1 { // what only the server of built-in groups has
			kuberoutes.NewOpenIDMetadataServer(nil).Install(c)
			c.Add(discovery.NewRootAPIsHandler(nil, codecs).WebService())
		}
		routes.Version{Version: &version.Info{}}.Install(c)
		containers = append(containers, c)
	}
	return containers, nil
}

// addGroup adds the routes of a group.
func addGroup(c *restful.Container, g group, s *runtime.Scheme, codecs serializer.CodecFactory) error {
	_, info, err := g.storages()
	if err != nil {
		return err
	}
	root := genericapiserver.APIGroupPrefix
	if g.name == "" {
		root = genericapiserver.DefaultLegacyAPIPrefix
	}
	for _, v := range g.versions {
		gv := schema.GroupVersion{Group: g.name, Version: v}
		_, _, err := (&endpoints.APIGroupVersion{
			Root: root, GroupVersion: gv, Storage: info.VersionedResourcesStorageMap[v],
			ParameterCodec: runtime.NewParameterCodec(s), Serializer: codecs, Creater: s, Convertor: s, ConvertabilityChecker: s,
			UnsafeConvertor: runtime.UnsafeObjectConvertor(s), Defaulter: s, Typer: s, Namer: runtime.Namer(meta.NewAccessor()),
			EquivalentResourceRegistry: runtime.NewEquivalentResourceRegistry(), TypeConverter: managedfields.NewDeducedTypeConverter(),
			Authorizer: authorizerfactory.NewAlwaysAllowAuthorizer(),
		}).InstallREST(c)
		if err != nil {
			return fmt.Errorf("builtin: the routes of %s: %w", gv, err)
		}
	}
	if g.name == "" {
		c.Add(discovery.NewLegacyRootAPIHandler(nil, codecs, root).WebService())
	} else {
		c.Add(discovery.NewAPIGroupHandler(codecs, metav1.APIGroup{Name: g.name}).WebService())
	}
	return nil
}

// definitionStorages makes the storages of CustomResourceDefinitions, of which only the routes are used.
type definitionStorages struct{ scheme *runtime.Scheme }

// NewRESTStorage implements provider.
func (d definitionStorages) NewRESTStorage(_ serverstorage.APIResourceConfigSource, o generic.RESTOptionsGetter) (genericapiserver.APIGroupInfo, error) {
	s, err := definitionstore.NewREST(d.scheme, o)
	if err != nil {
		return genericapiserver.APIGroupInfo{}, err
	}
	return genericapiserver.APIGroupInfo{VersionedResourcesStorageMap: map[string]map[string]rest.Storage{"v1": {
		"customresourcedefinitions": s, "customresourcedefinitions/status": definitionstore.NewStatusREST(d.scheme, s),
	}}}, nil
}
