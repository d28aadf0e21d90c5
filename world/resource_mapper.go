package world

import (
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/informersim/informersim/fakeapiserver/builtin"
	"github.com/informersim/informersim/fakeapiserver/patch"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/fakeapiserver/types/crd"
)

// resourceMapper finds resources by kind.
type resourceMapper struct {
	registry    *types.Registry
	docs        *documents
	writer      *patch.Writer                               // knows field managers and managedFields from one run to the next: both take longer than most requests
	definitions []*apiextensionsv1.CustomResourceDefinition // of the registry's custom resources
	converters  *converters                                 // of those that a webhook converts
}

// own returns a mapper for one run, in which definitions change.
func (c *resourceMapper) own() (*resourceMapper, error) {
	registry := c.registry.Clone()
	converters, err := newConverters()
	return &resourceMapper{registry: registry, docs: &documents{registry: registry}, writer: patch.NewWriter(), definitions: c.definitions, converters: converters}, err
}

// converts reports whether a webhook converts objects of a definition.
func (c *resourceMapper) converts() bool { return len(c.converters.paths) > 0 }

// mapperCache keeps the mapper of each set of manifests: they are immutable, and compiling them takes longer than most runs.
type mapperCache map[string]*resourceMapper

func (c mapperCache) get(manifests []string) (*resourceMapper, error) {
	key := strings.Join(manifests, "\x00")
	if m := c[key]; m != nil {
		return m, nil
	}
	registry := types.NewRegistry()
	if err := registry.Add(builtin.Resources(builtin.Options{Unprotected: true})...); err != nil {
		return nil, err
	}
	converters, err := newConverters()
	if err != nil {
		return nil, err
	}
	var all []*apiextensionsv1.CustomResourceDefinition
	for i, m := range manifests {
		definitions, err := crd.LoadManifests(strings.NewReader(m))
		if err != nil {
			return nil, fmt.Errorf("Options.CRDs: manifest %d: %w", i+1, err)
		}
		all = append(all, definitions...)
		resources, err := crd.CompileWith(converters, definitions...)
		if err == nil {
			err = registry.Add(resources...)
		}
		if err != nil {
			return nil, fmt.Errorf("Options.CRDs: manifest %d: %w", i+1, err)
		}
	}
	c[key] = &resourceMapper{registry: registry, docs: &documents{registry: registry}, writer: patch.NewWriter(), definitions: all, converters: converters}
	return c[key], nil
}

// resourceOf returns the resource of an object of the Store.
func (c *resourceMapper) resourceOf(obj runtime.Object) (*types.Resource, error) {
	gvk := obj.GetObjectKind().GroupVersionKind()
	if gvk.Empty() {
		kinds, _, err := scheme.Scheme.ObjectKinds(obj)
		if err != nil {
			return nil, err
		}
		gvk = kinds[0]
	}
	return c.byKind(gvk)
}

func (c *resourceMapper) byKind(gvk schema.GroupVersionKind) (*types.Resource, error) {
	if r := c.registry.ByKind(gvk); r != nil {
		return r, nil
	}
	if gvk.Group == apiextensionsv1.GroupName {
		return nil, fmt.Errorf("%s is not served: set Options.ServeCRDs", gvk)
	}
	return nil, fmt.Errorf("%s is not served: only built-in kinds and those of Options.CRDs are", gvk)
}
