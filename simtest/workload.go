package simtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// Object is a Kubernetes object: of a type in client-go's scheme or in Options.Scheme, or of any type with its kind set.
type Object interface {
	runtime.Object
	metav1.Object
}

// Create creates objects through the API and updates them with the server's response.
func (e *Env) Create(objs ...Object) {
	e.write("env.Create", wire.Write{Method: http.MethodPost}, objs)
}

// Update replaces objects. One without a resourceVersion overwrites whatever is there.
func (e *Env) Update(objs ...Object) {
	e.write("env.Update", wire.Write{Method: http.MethodPut}, objs)
}

// UpdateStatus replaces the status of objects, as Update replaces the rest.
func (e *Env) UpdateStatus(objs ...Object) {
	e.write("env.UpdateStatus", wire.Write{Method: http.MethodPut, Subresource: "status"}, objs)
}

// Delete deletes objects, identified by kind, namespace and name, without a grace period. As on a real server, an object with
// finalizers stays until they are removed.
func (e *Env) Delete(objs ...Object) {
	e.write("env.Delete", wire.Write{Method: http.MethodDelete}, objs)
}

// Apply creates the objects of a manifest (YAML or JSON, any number of documents), or patches those that exist to match it.
func (e *Env) Apply(manifest string) {
	e.alive()
	objs, err := decodeManifest(manifest)
	if err != nil {
		e.fatalf("env.Apply: %v", err)
	}
	e.write("env.Apply", wire.Write{OrCreate: true}, objs)
}

// write has objects written, one after the other, each repeated until it is answered.
func (e *Env) write(call string, as wire.Write, objs []Object) {
	e.alive()
	if len(objs) == 0 {
		return
	}
	words := make([]string, len(objs))
	for n, obj := range objs {
		gvk, err := e.w.r.kindOf(obj)
		var data []byte
		if err == nil && as.Method != http.MethodDelete {
			as.Object, err = json.Marshal(obj)
		}
		if err == nil {
			as.Call, as.Namespace, as.Name = call, obj.GetNamespace(), obj.GetName()
			as.APIVersion, as.Kind = gvk.ToAPIVersionAndKind()
			data, err = json.Marshal(as)
		}
		if err != nil {
			e.fatalf("%s: %v", call, err)
		}
		words[n] = string(data)
	}
	m := e.w.body.ask(call, wire.AskWrite, 0, words...)
	for _, obj := range objs {
		err, data := m.Error(), m.Bytes()
		if err == nil && m.Err() != nil {
			err = m.Err()
		}
		if err == nil && len(data) > 0 {
			err = replace(obj, data)
		}
		if err != nil {
			e.fatalf("%s: %v", call, err)
		}
	}
}

// replace decodes data into obj and leaves nothing of obj's former content.
func replace(obj runtime.Object, data []byte) error {
	if u, ok := obj.(interface{ UnmarshalJSON([]byte) error }); ok {
		return u.UnmarshalJSON(data)
	}
	v := reflect.ValueOf(obj)
	fresh := reflect.New(v.Type().Elem())
	if err := json.Unmarshal(data, fresh.Interface()); err != nil {
		return err
	}
	v.Elem().Set(fresh.Elem())
	return nil
}

// kindOf returns the kind that an object states, or under which a scheme knows its Go type.
func (r *runner) kindOf(obj runtime.Object) (schema.GroupVersionKind, error) {
	if gvk := obj.GetObjectKind().GroupVersionKind(); !gvk.Empty() {
		return gvk, nil
	}
	for _, s := range r.schemes {
		if kinds, _, err := s.ObjectKinds(obj); err == nil {
			return kinds[0], nil
		}
	}
	return schema.GroupVersionKind{}, fmt.Errorf("%T states no kind and is in no scheme: set its TypeMeta, or set Options.Scheme to a scheme that knows it", obj)
}

// decodeManifest returns the objects of a manifest.
func decodeManifest(manifest string) ([]Object, error) {
	var objs []Object
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), 4096)
	for n := 1; ; n++ {
		var raw runtime.RawExtension
		switch err := decoder.Decode(&raw); {
		case errors.Is(err, io.EOF):
			return objs, nil
		case err != nil:
			return nil, fmt.Errorf("document %d is neither YAML nor JSON: %w", n, err)
		case len(raw.Raw) == 0 || bytes.Equal(raw.Raw, []byte("null")):
			continue
		}
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(raw.Raw); err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		if !u.IsList() {
			objs = append(objs, u)
			continue
		}
		if err := u.EachListItem(func(o runtime.Object) error {
			objs = append(objs, o.(*unstructured.Unstructured))
			return nil
		}); err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
	}
}
