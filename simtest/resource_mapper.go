package simtest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/fakeapiserver/types/crd"
)

// resourceMapper maps objects to the resources that the server serves, by kind or by Go type.
type resourceMapper struct {
	registry *types.Registry
	docs     *documents
	schemes  []*runtime.Scheme
}

// registries caches the registry of each set of manifests: they are immutable.
var registries struct {
	sync.Mutex
	made map[string]*documents
}

func newResourceMapper(o *Options) (*resourceMapper, error) {
	c := &resourceMapper{schemes: []*runtime.Scheme{scheme.Scheme}}
	if o.Scheme != nil {
		c.schemes = append(c.schemes, o.Scheme)
	}
	manifests, err := readManifests(o.CRDs)
	if err != nil {
		return nil, fmt.Errorf("Options.CRDs: %w", err)
	}
	key := strings.Join(manifests, "\x00")
	registries.Lock()
	defer registries.Unlock()
	if c.docs = registries.made[key]; c.docs != nil {
		c.registry = c.docs.registry
		return c, nil
	}
	c.registry = types.NewRegistry()
	if err := c.registry.Add(types.Builtin(types.BuiltinOptions{})...); err != nil {
		return nil, err
	}
	for i, m := range manifests {
		definitions, err := crd.LoadManifests(strings.NewReader(m))
		if err != nil {
			return nil, fmt.Errorf("Options.CRDs: manifest %d: %w", i+1, err)
		}
		resources, err := crd.Compile(definitions...)
		if err == nil {
			err = c.registry.Add(resources...)
		}
		if err != nil {
			return nil, fmt.Errorf("Options.CRDs: manifest %d: %w", i+1, err)
		}
	}
	if registries.made == nil {
		registries.made = map[string]*documents{}
	}
	c.docs = &documents{registry: c.registry}
	registries.made[key] = c.docs
	return c, nil
}

// readManifests reads files and folders; a string of several lines is itself a manifest.
func readManifests(crds []string) ([]string, error) {
	var all []string
	for _, c := range crds {
		if strings.ContainsRune(strings.TrimSpace(c), '\n') {
			all = append(all, c)
			continue
		}
		files := []string{c}
		if info, err := os.Stat(c); err != nil {
			return nil, err
		} else if info.IsDir() {
			if files, err = filepath.Glob(filepath.Join(c, "*.yaml")); err != nil {
				return nil, err
			}
			if len(files) == 0 {
				return nil, fmt.Errorf("the folder %s has no *.yaml", c)
			}
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				return nil, err
			}
			all = append(all, string(data))
		}
	}
	return all, nil
}

// eachDocument calls f with each document of a manifest as JSON.
func eachDocument(manifest string, f func(n int, data []byte) error) error {
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), 4096)
	for n := 1; ; n++ {
		var raw runtime.RawExtension
		switch err := decoder.Decode(&raw); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("document %d is neither YAML nor JSON: %w", n, err)
		case len(raw.Raw) == 0 || string(raw.Raw) == "null":
			continue
		}
		if err := f(n, raw.Raw); err != nil {
			return err
		}
	}
}

// kindOf returns the kind that an object states, or under which a scheme knows its Go type.
func (c *resourceMapper) kindOf(obj runtime.Object) (schema.GroupVersionKind, error) {
	if gvk := obj.GetObjectKind().GroupVersionKind(); !gvk.Empty() {
		return gvk, nil
	}
	for _, s := range c.schemes {
		if kinds, _, err := s.ObjectKinds(obj); err == nil {
			return kinds[0], nil
		}
	}
	return schema.GroupVersionKind{}, fmt.Errorf("%T states no kind and is in no scheme: set its TypeMeta, or set Options.Scheme to a scheme that knows it", obj)
}

func (c *resourceMapper) resourceOf(obj runtime.Object) (*types.Resource, error) {
	gvk, err := c.kindOf(obj)
	if err != nil {
		return nil, err
	}
	return c.byKind(gvk)
}

func (c *resourceMapper) resourceOfList(list runtime.Object) (*types.Resource, error) {
	gvk, err := c.kindOf(list)
	if err != nil {
		return nil, err
	}
	kind, isList := strings.CutSuffix(gvk.Kind, "List")
	if !isList {
		return nil, fmt.Errorf("%s is not a list kind", gvk.Kind)
	}
	return c.byKind(gvk.GroupVersion().WithKind(kind))
}

func (c *resourceMapper) byKind(gvk schema.GroupVersionKind) (*types.Resource, error) {
	if r := c.registry.ByKind(gvk); r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("%s is not served: only built-in kinds and those of Options.CRDs are", gvk)
}
