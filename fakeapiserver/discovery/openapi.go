package discovery

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/munnerz/goautoneg"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/informersim/informersim/fakeapiserver/render"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// openAPI caches documents, and what is derived from them: both are slow for types with thousands of fields.
type openAPI struct {
	v3 map[string][]byte // by api/v1, apis/GROUP/VERSION
	v2 []byte
	// tags are the hashes of the documents of version 3, by their paths; protobufs are their and version 2's other form.
	tags      map[string]string
	protobufs map[string][]byte
	// answered are the requests (documentKey) whose answer needs nothing that is not here.
	answered map[string]bool
	// recorded are the hashes of documents that are known before these are made, nil until they are asked for.
	recorded map[string]string
}

func newOpenAPI() openAPI {
	return openAPI{v3: map[string][]byte{}, tags: map[string]string{}, protobufs: map[string][]byte{}, answered: map[string]bool{}}
}

// maxAnswered bounds the requests that are remembered: a client may ask for anything.
const maxAnswered = 1000

// v2Path is the key of the document of version 2.
const v2Path = "v2"

// documentKey tells requests for documents apart, as far as their cost goes.
func documentKey(q Request) string { return q.Path + " " + q.Ask.Accept }

// Slow reports whether answering a request may take long: it is for a document that has not been made yet.
func (s *Server) Slow(q Request) bool {
	return strings.HasPrefix(q.Path, "/openapi/") && !s.openapi.answered[documentKey(q)]
}

// Fork returns a Server of the registry as it is now, with what is cached. It may be used beside this one, and Adopt takes over what
// it has made.
func (s *Server) Fork() *Server {
	fork := &Server{registry: s.registry.Clone(), address: s.address, pages: s.pages, changes: s.changes, openapi: newOpenAPI()}
	fork.openapi.add(s.openapi)
	return fork
}

// Adopt takes over what a fork has made, unless the registry has changed since.
func (s *Server) Adopt(fork *Server) {
	if s.changes == fork.changes {
		fork.openapi.add(s.openapi)
		s.openapi = fork.openapi
	}
}

// add adds another cache of the same registry.
func (o *openAPI) add(other openAPI) {
	if o.v2 == nil {
		o.v2 = other.v2
	}
	maps.Copy(o.v3, other.v3)
	maps.Copy(o.tags, other.tags)
	maps.Copy(o.protobufs, other.protobufs)
	maps.Copy(o.answered, other.answered)
}

// protobuf returns the protobuf form of a document, made on first use.
func (s *Server) protobuf(path string, data []byte, convert func([]byte) ([]byte, error)) ([]byte, error) {
	if made := s.openapi.protobufs[path]; made != nil {
		return made, nil
	}
	made, err := convert(data)
	if err != nil {
		return nil, err
	}
	s.openapi.protobufs[path] = made
	return made, nil
}

const (
	v3Protobuf = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
	v2Protobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
)

// serveOpenAPI answers paths below /openapi.
func (s *Server) serveOpenAPI(q Request, parts []string) (Answer, bool) {
	if len(s.openapi.answered) >= maxAnswered {
		clear(s.openapi.answered)
	}
	s.openapi.answered[documentKey(q)] = true
	switch {
	case len(parts) < 2:
		return Answer{}, false
	case parts[1] == "v2" && len(parts) == 2 && !strings.HasSuffix(q.Path, "/"):
		return s.documentV2(q), true
	case parts[1] == "v3" && len(parts) == 2 && !strings.HasSuffix(q.Path, "/"):
		return s.index(q), true
	case parts[1] == "v3":
		return s.documentV3(q, strings.Join(parts[2:], "/")), true
	}
	return Answer{}, false
}

// negotiate picks JSON or a protobuf encoding of a document; "" if the client accepts neither.
func negotiate(q Request, protobuf string) (contentType string) {
	if q.Ask.Accept == "" {
		return types.JSON
	}
	for _, clause := range goautoneg.ParseAccept(q.Ask.Accept) {
		switch media := clause.Type + "/" + clause.SubType; media {
		case types.JSON, "*/*", "application/*":
			return types.JSON
		case protobuf, strings.Replace(protobuf, ".v1.0+", "@v1.0+", 1):
			return protobuf
		}
	}
	return ""
}

// index answers /openapi/v3: the URL of each group and version's document. It is JSON whatever the client accepts.
func (s *Server) index(q Request) Answer {
	index := handler3.OpenAPIV3Discovery{Paths: map[string]handler3.OpenAPIV3DiscoveryGroupVersion{}}
	recorded := s.recorded()
	for _, path := range sortedKeys(recorded) {
		index.Paths[path] = handler3.OpenAPIV3DiscoveryGroupVersion{ServerRelativeURL: relativeURL(path, recorded[path])}
	}
	for _, g := range s.registry.Groups() {
		for _, v := range g.Versions {
			path := strings.TrimPrefix(groupPath(g.Name), "/") + "/" + v.Name
			if recorded[path] != "" {
				continue
			}
			index.Paths[path] = handler3.OpenAPIV3DiscoveryGroupVersion{ServerRelativeURL: relativeURL(path, s.hash(path, g.Name, v))}
		}
	}
	data, err := json.Marshal(index)
	if err != nil {
		return Answer{Answer: q.Ask.Error(err)}
	}
	if s.kube() { // the aggregator says neither what it is nor which one
		return Answer{Answer: render.Answer{Code: http.StatusOK, ContentType: plainText, Body: data}}
	}
	return withETag(q, Answer{Answer: render.Answer{Code: http.StatusOK, ContentType: types.JSON, Body: data}})
}

// relativeURL returns the URL of the document at path while it has that hash.
func relativeURL(path, hash string) string {
	return "/openapi/v3/" + path + "?hash=" + url.QueryEscape(hash)
}

// hash returns documentHash, computed on first use.
func (s *Server) hash(path, group string, v types.Version) string {
	if tag := s.openapi.tags[path]; tag != "" {
		return tag
	}
	s.openapi.tags[path] = s.documentHash(path, group, v)
	return s.openapi.tags[path]
}

// documentHash returns a value that changes with a version's document: the document's own hash if all resources are custom. For built-in
// ones the index must not cost generating all documents.
func (s *Server) documentHash(path, group string, v types.Version) string {
	if !slices.ContainsFunc(v.Resources, func(r *types.Resource) bool { return !r.Custom }) {
		if data, err := s.makeV3(path); err == nil {
			return fmt.Sprintf("%X", sha512.Sum512(data))
		}
	}
	h := sha512.New()
	fmt.Fprintln(h, Version.GitVersion, group, v.Name)
	for _, r := range v.Resources {
		fmt.Fprintln(h, r.Plural, r.Kind, r.Verbs, len(r.Subresources))
		if !r.Custom {
			continue
		}
		if document, err := r.Strategy.OpenAPI(); err == nil && document != nil {
			if data, err := json.Marshal(document); err == nil {
				h.Write(data)
			}
		}
	}
	return fmt.Sprintf("%X", h.Sum(nil))
}

// documentV3 returns the document of one group and version; an empty answer if it is not served.
func (s *Server) documentV3(q Request, path string) Answer {
	contentType := negotiate(q, v3Protobuf)
	if contentType == "" {
		return Answer{Answer: render.Answer{Code: http.StatusNotAcceptable}}
	}
	data, err := s.makeV3(path)
	if err != nil {
		return Answer{Answer: q.Ask.Error(err)}
	}
	vary := [2]string{"Vary", "Accept"}
	if data == nil {
		code := http.StatusOK
		if s.kube() {
			code = http.StatusNotFound // the aggregator knows who has which document
		}
		return Answer{Answer: render.Answer{Code: code}, Headers: [][2]string{vary}}
	}
	tag := s.tag(path)
	asked := q.Ask.Query.Get("hash")
	if asked != "" && asked != tag {
		return Answer{
			Answer: render.Answer{Code: http.StatusMovedPermanently, ContentType: contentType}, ETag: strconv.Quote(tag),
			Headers: [][2]string{vary, {"Location", relativeURL(path, tag)}},
		}
	}
	if contentType != types.JSON {
		if data, err = s.protobuf(path, data, handler3.ToV3ProtoBinary); err != nil {
			return Answer{Answer: q.Ask.Error(err)}
		}
	}
	a := Answer{Answer: render.Answer{Code: http.StatusOK, ContentType: contentType, Body: data}, Headers: [][2]string{vary}}
	if asked != "" {
		a.Headers = append(a.Headers, [2]string{"Cache-Control", "public, immutable"})
	}
	return tagged(q, a, tag)
}

// tag returns the hash of the document at a path of the index; "" if there is none.
func (s *Server) tag(path string) string {
	if hash := s.recorded()[path]; hash != "" {
		return hash
	}
	for _, g := range s.registry.Groups() {
		for _, v := range g.Versions {
			if strings.TrimPrefix(groupPath(g.Name), "/")+"/"+v.Name == path {
				return s.hash(path, g.Name, v)
			}
		}
	}
	return ""
}

// makeV3 returns the document at a path of the index, made on first use; nil if there is none.
func (s *Server) makeV3(path string) ([]byte, error) {
	if data := s.openapi.v3[path]; data != nil {
		return data, nil
	}
	if s.recorded()[path] != "" {
		data, err := s.documenter().DocumentV3(path)
		if err != nil {
			return nil, err
		}
		s.openapi.v3[path] = data
		return data, nil
	}
	for _, g := range s.registry.Groups() {
		for _, v := range g.Versions {
			if strings.TrimPrefix(groupPath(g.Name), "/")+"/"+v.Name != path {
				continue
			}
			document, err := s.documentOf(v)
			if err != nil {
				return nil, err
			}
			data, err := json.Marshal(document)
			if err != nil {
				return nil, err
			}
			s.openapi.v3[path] = data
			return data, nil
		}
	}
	return nil, nil
}

// documentOf returns the document of a version: generated for Go types, otherwise merged from those of its resources.
func (s *Server) documentOf(v types.Version) (*spec3.OpenAPI, error) {
	out := &spec3.OpenAPI{
		Version: "3.0.0", Info: &spec.Info{InfoProps: spec.InfoProps{Title: "Kubernetes", Version: "unversioned"}},
		Paths:      &spec3.Paths{Paths: map[string]*spec3.Path{}},
		Components: &spec3.Components{Schemas: map[string]*spec.Schema{}},
	}
	made := newSchemas()
	builtin := false
	for _, r := range v.Resources {
		document, err := r.Strategy.OpenAPI()
		if err != nil {
			return nil, fmt.Errorf("discovery: OpenAPI of %s: %w", r, err)
		}
		if document == nil {
			builtin = true
			made.pathsOf(r, out.Paths.Paths)
			made.kind(r.GroupVersionKind())
			continue
		}
		if document.Info != nil {
			out.Info = document.Info
		}
		if document.Components != nil {
			maps.Copy(out.Components.Schemas, document.Components.Schemas)
		}
		if document.Paths == nil { // it has its own schemas; the paths are generated
			builtin = true
			made.learn(document.Components)
			made.pathsOf(r, out.Paths.Paths)
			continue
		}
		maps.Copy(out.Paths.Paths, document.Paths.Paths)
	}
	if builtin {
		for _, t := range []reflect.Type{reflect.TypeFor[metav1.DeleteOptions](), reflect.TypeFor[metav1.WatchEvent](), reflect.TypeFor[metav1.Status]()} {
			made.add(t)
		}
		maps.Copy(out.Components.Schemas, made.done)
	}
	return out, nil
}

// sortedKeys returns the sorted keys of a map.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
