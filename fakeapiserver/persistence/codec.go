package persistence

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/store"
)

// The file has one pair for each object: "object/<plural>.<group>/<namespace>/<name>".
const objectPrefix = "object/"

// stored is an object in the file.
type stored struct {
	Revision int64           `json:"revision"`
	Version  string          `json:"version"` // API version in which the object is written
	Object   json.RawMessage `json:"object"`
}

func objectKey(r *store.Resource, key string) []byte {
	return []byte(objectPrefix + r.GroupResource().String() + "/" + key)
}

// parseKey parses an object's key; ok is false for other keys.
func parseKey(key string) (gr schema.GroupResource, object string, ok bool) {
	rest, ok := strings.CutPrefix(key, objectPrefix)
	if !ok {
		return gr, "", false
	}
	resource, object, ok := strings.Cut(rest, "/")
	return schema.ParseGroupResource(resource), object, ok
}

// displayKey names the object of a key in messages.
func displayKey(key string) string {
	gr, object, ok := parseKey(key)
	if !ok {
		return strconv.Quote(key)
	}
	return gr.String() + " " + object
}

func encode(r *store.Resource, revision int64, obj runtime.Object) ([]byte, error) {
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	return json.Marshal(stored{Revision: revision, Version: r.Version, Object: data})
}

// decode decodes an object. Go types must be in the current storage version, unless their resource reads others, too; custom resources are converted when read.
func decode(r *store.Resource, s stored) (runtime.Object, error) {
	if r.Decode != nil {
		return r.Decode(s.Object)
	}
	obj := newObject(r)
	if _, custom := obj.(*unstructured.Unstructured); !custom && s.Version != r.Version {
		return nil, fmt.Errorf("it is stored in version %s, want the storage version %s", s.Version, r.Version)
	}
	return obj, json.Unmarshal(s.Object, obj)
}

func newObject(r *store.Resource) runtime.Object {
	if r.New != nil {
		if obj := r.New(); obj != nil {
			return obj
		}
	}
	return &unstructured.Unstructured{}
}

// revisionOf returns the revision at which an object was committed.
func revisionOf(obj runtime.Object) (int64, error) {
	m, ok := obj.(metav1.Object)
	if !ok {
		return 0, fmt.Errorf("a %T has no metadata", obj)
	}
	return store.ParseRevision(m.GetResourceVersion())
}
