package discovery

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/informersim/informersim/fakeapiserver/render"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// describesV2 is implemented by strategies with an OpenAPI v2 document of their own.
type describesV2 interface {
	OpenAPIV2() (*spec.Swagger, error)
}

// documentV2 answers /openapi/v2, which old clients read.
func (s *Server) documentV2(q Request) Answer {
	contentType := negotiate(q, v2Protobuf)
	if contentType == "" {
		return Answer{Answer: render.Answer{Code: http.StatusNotAcceptable}}
	}
	data, err := s.makeV2()
	if err != nil {
		return Answer{Answer: q.Ask.Error(err)}
	}
	if contentType != types.JSON {
		if data, err = s.protobuf(v2Path, data, toV2Protobuf); err != nil {
			return Answer{Answer: q.Ask.Error(err)}
		}
	}
	return withETag(q, Answer{Answer: render.Answer{Code: http.StatusOK, ContentType: contentType, Body: data}})
}

func toV2Protobuf(data []byte) ([]byte, error) {
	document, err := openapi_v2.ParseDocument(data)
	if err != nil {
		return nil, err
	}
	return proto.Marshal(document)
}

// swagger is an OpenAPI v2 document with the fields used here.
type swagger struct {
	Swagger     string                     `json:"swagger"`
	Info        any                        `json:"info"`
	Paths       map[string]json.RawMessage `json:"paths"`
	Definitions map[string]json.RawMessage `json:"definitions"`
}

// makeV2 returns the document, made on first use.
func (s *Server) makeV2() ([]byte, error) {
	if s.openapi.v2 != nil {
		return s.openapi.v2, nil
	}
	if d := s.documenter(); d != nil {
		data, err := s.mergedV2(d)
		s.openapi.v2 = data
		return data, err
	}
	out := swagger{
		Swagger: "2.0", Info: map[string]string{"title": "Kubernetes", "version": Version.GitVersion},
		Paths: map[string]json.RawMessage{}, Definitions: map[string]json.RawMessage{},
	}
	builtin := newSchemas()
	for _, r := range s.registry.All() {
		own, ok := r.Strategy.(describesV2)
		if !ok {
			builtin.kind(r.GroupVersionKind())
			builtin.kind(r.ListGroupVersionKind())
			continue
		}
		document, err := own.OpenAPIV2()
		if err != nil {
			return nil, err
		}
		data, err := json.Marshal(document)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &struct {
			Paths       *map[string]json.RawMessage `json:"paths"`
			Definitions *map[string]json.RawMessage `json:"definitions"`
		}{&out.Paths, &out.Definitions}); err != nil {
			return nil, err
		}
	}
	for _, name := range sortedKeys(builtin.done) {
		data, err := json.Marshal(inV2(builtin.done[name]))
		if err != nil {
			return nil, err
		}
		out.Definitions[name] = bytes.ReplaceAll(data, []byte(refPrefix), []byte("#/definitions/"))
	}
	data, err := json.Marshal(out)
	s.openapi.v2 = data
	return data, err
}

// inV2 converts a schema to OpenAPI v2: references may have descriptions, and there is no choice of types.
func inV2(s *spec.Schema) *spec.Schema {
	out := *s
	out.Default = nil
	if len(s.AllOf) == 1 && strings.HasPrefix(s.AllOf[0].Ref.String(), refPrefix) {
		out.Ref, out.AllOf = s.AllOf[0].Ref, nil
	}
	if len(s.OneOf) > 0 {
		out.OneOf, out.Type = nil, spec.StringOrArray{"string"}
	}
	if s.Items != nil && s.Items.Schema != nil {
		out.Items = &spec.SchemaOrArray{Schema: inV2(s.Items.Schema)}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		out.AdditionalProperties = &spec.SchemaOrBool{Allows: true, Schema: inV2(s.AdditionalProperties.Schema)}
	}
	if s.Properties != nil {
		out.Properties = map[string]spec.Schema{}
		for name, p := range s.Properties { // order: a copy into a map
			out.Properties[name] = *inV2(&p)
		}
	}
	return &out
}
