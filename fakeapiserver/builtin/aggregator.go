package builtin

import (
	"k8s.io/apimachinery/pkg/util/managedfields"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/install"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/generated/openapi"
	apiservicestore "k8s.io/kube-aggregator/pkg/registry/apiservice/etcd"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// The kinds of the other groups are registered in the same way, by the packages that convert.go imports.
func init() { install.Install(scheme) }

// aggregator makes the storages of APIServices, which are the aggregation layer's.
type aggregator struct{}

// NewRESTStorage implements provider.
func (aggregator) NewRESTStorage(_ serverstorage.APIResourceConfigSource, o generic.RESTOptionsGetter) (genericapiserver.APIGroupInfo, error) {
	services := apiservicestore.NewREST(scheme, o)
	return genericapiserver.APIGroupInfo{VersionedResourcesStorageMap: map[string]map[string]rest.Storage{"v1": {
		"apiservices": services, "apiservices/status": apiservicestore.NewStatusREST(scheme, services),
	}}}, nil
}

// aggregatorTypes makes the types that the managedFields of APIServices are computed with: client-go has no apply configurations of them.
func aggregatorTypes() managedfields.TypeConverter {
	service, list := apiregistrationv1.APIService{}, apiregistrationv1.APIServiceList{}
	models, err := builder3.BuildOpenAPIDefinitionsForResources(&common.OpenAPIV3Config{
		Info: &spec.Info{}, GetDefinitions: openapi.GetOpenAPIDefinitions, GetDefinitionName: openapinamer.NewDefinitionNamer(scheme).GetDefinitionName,
	}, service.OpenAPIModelName(), list.OpenAPIModelName())
	if err != nil {
		panic("builtin: OpenAPI schemas of APIServices: " + err.Error()) // cannot happen: they are linked, and a test makes them
	}
	converter, err := managedfields.NewTypeConverter(models, false)
	if err != nil {
		panic("builtin: types of APIServices: " + err.Error())
	}
	return converter
}
