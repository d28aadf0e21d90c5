package render

import (
	"bytes"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	clientscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// The encoders. They are stateless; encoding never consults the scheme.
var (
	compactJSON = json.NewSerializerWithOptions(json.DefaultMetaFactory, nil, nil, json.SerializerOptions{})
	prettyJSON  = json.NewSerializerWithOptions(json.DefaultMetaFactory, nil, nil, json.SerializerOptions{Pretty: true})
	yamlText    = json.NewSerializerWithOptions(json.DefaultMetaFactory, nil, nil, json.SerializerOptions{Yaml: true})
	proto       = protobuf.NewSerializer(clientscheme.Scheme, clientscheme.Scheme)
	rawProto    = protobuf.NewRawSerializer(clientscheme.Scheme, clientscheme.Scheme)
)

// sizeOfObject is the initial buffer size: most objects are smaller.
const sizeOfObject = 1 << 10

// Encode encodes an object that has its kind set. Compact JSON ends in a newline, pretty JSON does not (S38).
func (f Format) Encode(obj runtime.Object) ([]byte, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok && f.MediaType == types.JSON && !f.Pretty {
		data, err := types.AppendJSON(make([]byte, 0, sizeOfObject), u.Object)
		if err != nil {
			return nil, fmt.Errorf("render: %T as %s: %w", obj, f.MediaType, err)
		}
		return append(data, '\n'), nil
	}
	var encoder runtime.Encoder = compactJSON
	switch {
	case f.MediaType == types.Protobuf:
		encoder = proto
	case f.MediaType == types.YAML:
		encoder = yamlText
	case f.Pretty:
		encoder = prettyJSON
	}
	var b bytes.Buffer
	if err := encoder.Encode(obj, &b); err != nil {
		return nil, fmt.Errorf("render: %T as %s: %w", obj, f.MediaType, err)
	}
	return b.Bytes(), nil
}

// WithKind returns the object with its kind set; a shallow copy if it had none.
func WithKind(obj runtime.Object, r *types.Resource, subresource string) runtime.Object {
	if !obj.GetObjectKind().GroupVersionKind().Empty() {
		return obj
	}
	if status, ok := obj.(*metav1.Status); ok {
		return typedStatus(status)
	}
	c := types.ShallowCopy(obj)
	c.GetObjectKind().SetGroupVersionKind(r.KindOf(subresource))
	return c
}
