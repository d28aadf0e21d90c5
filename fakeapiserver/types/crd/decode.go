package crd

import (
	"fmt"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// creator creates unstructured objects of any kind.
type creator struct{}

func (creator) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

var typer = crdserverscheme.NewUnstructuredObjectTyper()

func serializer(yaml, strict bool) runtime.Serializer {
	return json.NewSerializerWithOptions(json.DefaultMetaFactory, creator{}, typer, json.SerializerOptions{Yaml: yaml, Strict: strict})
}

// The decoders by media type and strictness. They are stateless.
var (
	jsonLoose, jsonStrict = serializer(false, false), serializer(false, true)
	yamlLoose, yamlStrict = serializer(true, false), serializer(true, true)
	protoDecoder          = protobuf.NewSerializer(creator{}, typer)
)

// Accepts returns JSON, YAML, and protobuf, which the real server advertises too but cannot read.
func (s *strategy) Accepts() []string { return []string{types.JSON, types.YAML, types.Protobuf} }

func decoderFor(mediaType string, strict bool) runtime.Decoder {
	switch {
	case mediaType == types.Protobuf:
		return protoDecoder
	case mediaType == types.YAML && strict:
		return yamlStrict
	case mediaType == types.YAML:
		return yamlLoose
	case strict:
		return jsonStrict
	}
	return jsonLoose
}

// Decode decodes a body, prunes and coerces it by the schema, and sets defaults (S30). An object of another kind is returned
// unchanged, for validation to reject (S31).
func (s *strategy) Decode(data []byte, mediaType string, strict bool) (runtime.Object, *schema.GroupVersionKind, error) {
	want := s.gvk
	obj, gvk, err := decoderFor(mediaType, strict).Decode(data, &want, &unstructured.Unstructured{})
	var found []error
	if err != nil {
		strictErr, ok := runtime.AsStrictDecodingError(err)
		if !ok || obj == nil {
			return nil, gvk, err
		}
		found = strictErr.Errors()
	}
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, gvk, fmt.Errorf("crd: decoded a %T", obj)
	}
	unknown, err := s.coerce(u, strict)
	if err != nil {
		return nil, gvk, err
	}
	s.Default(u)
	for _, path := range unknown {
		found = append(found, fmt.Errorf("unknown field %q", path))
	}
	if strict && len(found) > 0 {
		return u, gvk, runtime.NewStrictDecodingError(found)
	}
	return u, gvk, nil
}

// Prune drops, in place, unknown fields and meaningless nulls, and returns their paths.
func (s *strategy) Prune(obj runtime.Object) ([]string, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("crd: %T cannot be pruned", obj)
	}
	return s.coerce(u, true)
}

// coerce does to an unstructured object what decoding into a struct does to others: metadata must have its types, unknown fields
// and nulls that are not nullable are dropped, and embedded objects are treated alike. The schema need not have kind, apiVersion
// and metadata.
func (s *strategy) coerce(u *unstructured.Unstructured, track bool) ([]string, error) {
	kind, foundKind, err := unstructured.NestedString(u.Object, "kind")
	if err != nil {
		return nil, err
	}
	apiVersion, foundVersion, err := unstructured.NestedString(u.Object, "apiVersion")
	if err != nil {
		return nil, err
	}
	meta, foundMeta, unknown, err := objectmeta.GetObjectMetaWithOptions(u.Object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: track})
	if err != nil {
		return nil, err
	}
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, err
	}
	if gv.WithKind(kind).GroupKind() == s.gvk.GroupKind() {
		structural := s.family.schemas[gv.Version]
		if !s.family.definition.Spec.PreserveUnknownFields {
			unknown = append(unknown, pruning.PruneWithOptions(u.Object, structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: track})...)
			defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, structural)
		}
		err, paths := objectmeta.CoerceWithOptions(nil, u.Object, structural, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: track})
		if err != nil {
			return nil, err
		}
		unknown = append(unknown, paths...)
	}
	if foundKind {
		u.SetKind(kind)
	}
	if foundVersion {
		u.SetAPIVersion(apiVersion)
	}
	if foundMeta {
		if err := objectmeta.SetObjectMeta(u.Object, meta); err != nil {
			return nil, err
		}
	}
	return unknown, nil
}
