package crd

import (
	"bytes"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// A definition is what its JSON says, though protobuf can say more: the probe crd/additional-properties-in-protobuf.
func TestDefinitionInProtobuf(t *testing.T) {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	sent := &apiextensionsv1.CustomResourceDefinition{}
	sent.SetGroupVersionKind(definitionKind)
	sent.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Schema: &apiextensionsv1.CustomResourceValidation{
		OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &text}},
	}}}
	var body bytes.Buffer
	if err := protobuf.NewSerializer(Scheme, Scheme).Encode(sent, &body); err != nil {
		t.Fatal(err)
	}
	obj, _, err := (&definitions{}).Decode(body.Bytes(), types.Protobuf, false)
	if err != nil {
		t.Fatal(err)
	}
	got := obj.(*apiextensionsv1.CustomResourceDefinition).Spec.Versions[0].Schema.OpenAPIV3Schema.AdditionalProperties
	if got == nil || !got.Allows || got.Schema == nil || got.Schema.Type != text.Type {
		t.Errorf("additionalProperties are %+v, want strings, allowed", got)
	}
}
