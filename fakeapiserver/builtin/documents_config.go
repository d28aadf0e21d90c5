package builtin

import (
	"net/http"
	"net/url"

	apiextensionsinstall "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
	generated "k8s.io/kubernetes/pkg/generated/openapi"
)

// What a kube-apiserver says of itself and of its security, with the authentication that envtest configures.
const (
	openAPITitle    = "Kubernetes"
	openAPIVersion  = "1.37"
	schemeName      = "BearerToken"
	bearerIs        = "Bearer Token authentication"
	apiKey          = "apiKey"
	authorizationIn = "header"
	authorizationAs = "authorization"
	unauthorized    = "Unauthorized"
)

var (
	openAPIDefinitions = openapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(generated.GetOpenAPIDefinitions)
	defaultSecurity    = []map[string][]string{{schemeName: {}}}
)

// extensionsScheme returns the scheme of the server of CustomResourceDefinitions.
func extensionsScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	apiextensionsinstall.Install(s)
	unversioned := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(s, unversioned)
	s.AddUnversionedTypes(unversioned, &metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{})
	return s
}

// openAPIConfigV2 returns the configuration of the documents of version 2.
func openAPIConfigV2() *common.Config {
	c := genericapiserver.DefaultOpenAPIConfig(openAPIDefinitions, openapinamer.NewDefinitionNamer(scheme, extensionsScheme()))
	c.Info.Title, c.Info.Version = openAPITitle, openAPIVersion
	c.SecurityDefinitions = &spec.SecurityDefinitions{schemeName: {SecuritySchemeProps: spec.SecuritySchemeProps{
		Type: apiKey, Name: authorizationAs, In: authorizationIn, Description: bearerIs,
	}}}
	c.DefaultSecurity = defaultSecurity
	c.CommonResponses = map[int]spec.Response{http.StatusUnauthorized: {ResponseProps: spec.ResponseProps{Description: unauthorized}}}
	return c
}

// openAPIConfigV3 returns the configuration of the documents of version 3.
func openAPIConfigV3() *common.OpenAPIV3Config {
	c := genericapiserver.DefaultOpenAPIV3Config(openAPIDefinitions, openapinamer.NewDefinitionNamer(scheme, extensionsScheme()))
	c.Info.Title, c.Info.Version = openAPITitle, openAPIVersion
	c.SecuritySchemes = spec3.SecuritySchemes{schemeName: {SecuritySchemeProps: spec3.SecuritySchemeProps{
		Type: apiKey, Name: authorizationAs, In: authorizationIn, Description: bearerIs,
	}}}
	c.DefaultSecurity = defaultSecurity
	c.CommonResponses = map[int]*spec3.Response{http.StatusUnauthorized: {ResponseProps: spec3.ResponseProps{Description: unauthorized}}}
	return c
}

// memory keeps what a handler writes.
type memory struct {
	header http.Header
	body   []byte
}

// Header implements http.ResponseWriter.
func (m *memory) Header() http.Header {
	if m.header == nil {
		m.header = http.Header{}
	}
	return m.header
}

// WriteHeader implements http.ResponseWriter.
func (*memory) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (m *memory) Write(data []byte) (int, error) {
	m.body = append(m.body, data...)
	return len(data), nil
}

// requestFor returns a GET of a path.
func requestFor(path string) *http.Request {
	return &http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}, Header: http.Header{}}
}
