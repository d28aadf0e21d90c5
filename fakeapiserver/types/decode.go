package types

import (
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// The media types of bodies.
const (
	JSON     = runtime.ContentTypeJSON
	YAML     = runtime.ContentTypeYAML
	Protobuf = runtime.ContentTypeProtobuf
)

// Body is the body of a create or update.
type Body struct {
	Data []byte
	// ContentType is the header; empty means JSON.
	ContentType string
	// Directive is the query parameter fieldValidation: Ignore, Warn, Strict, or empty for Warn.
	Directive string
}

// ErrNoAnswer marks a body at which a real server's handler panics: the client's connection ends without an answer.
var ErrNoAnswer = errors.New("the connection ends without an answer, as a real server's does")

// errProtobuf is for custom resources: a real server has no strict decoder for them. Without field validation it is a 400.
var errProtobuf = fmt.Errorf("%w: custom resources are not written in protobuf", ErrNoAnswer)

// Decode decodes a body: 400 if it cannot be read or is of another version (S31), 415 for another media type. Strict decoding
// errors become warnings under Warn and a 400 under Strict (S30).
func (r *Resource) Decode(b Body, subresource string) (runtime.Object, []string, error) {
	decoder := r.decoder(subresource)
	mediaType, err := inputType(b.ContentType, decoder.Accepts())
	if err != nil {
		return nil, nil, err
	}
	kind := r.KindOf(subresource)
	if r.Custom && mediaType == Protobuf && b.Directive != metav1.FieldValidationIgnore && kind == r.GroupVersionKind() {
		return nil, nil, errProtobuf
	}
	strict := b.Directive != metav1.FieldValidationIgnore
	obj, gvk, err := decoder.Decode(b.Data, mediaType, strict)
	var warnings []string
	if err != nil {
		strictErr, isStrict := runtime.AsStrictDecodingError(err)
		if !isStrict || obj == nil || b.Directive == metav1.FieldValidationStrict {
			if r.Custom && subresource == Scale {
				return nil, nil, errScaleBody
			}
			return nil, nil, decodeError(err, kind, gvk, b.Data)
		}
		warnings = StrictWarnings(strictErr.Errors())
	}
	if have := gvk.GroupVersion(); have != kind.GroupVersion() && !r.takes(subresource, have) {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", have, kind.GroupVersion()))
	}
	return obj, warnings, nil
}

// takes reports whether a subresource takes its kind in a version besides that of discovery.
func (r *Resource) takes(subresource string, gv schema.GroupVersion) bool {
	s := r.Subresource(subresource)
	return s != nil && s.Takes != nil && s.Takes(gv)
}

// bodyDecoder is the part of a Strategy that reads bodies.
type bodyDecoder interface {
	Decode(data []byte, mediaType string, strict bool) (runtime.Object, *schema.GroupVersionKind, error)
	Accepts() []string
}

// KindDecoder is implemented by strategies that read the bodies of their subresources, too.
type KindDecoder interface {
	// DecodeFor is Decode for the kind of a subresource.
	DecodeFor(subresource string, data []byte, mediaType string, strict bool) (runtime.Object, *schema.GroupVersionKind, error)
	Accepts() []string
}

// decoder returns the one of the resource's own kind, or of the subresource's Go type.
func (r *Resource) decoder(subresource string) bodyDecoder {
	s := r.Subresource(subresource)
	if s == nil || s.Kind.Empty() {
		return r.Strategy
	}
	if d, ok := r.Strategy.(KindDecoder); ok {
		return subresourceDecoder{d, subresource}
	}
	return scaleDecoder{}
}

// subresourceDecoder reads the bodies of one subresource.
type subresourceDecoder struct {
	KindDecoder
	subresource string
}

// Decode decodes a body.
func (d subresourceDecoder) Decode(data []byte, mediaType string, strict bool) (runtime.Object, *schema.GroupVersionKind, error) {
	return d.DecodeFor(d.subresource, data, mediaType, strict)
}

// inputType finds a Content-Type header's media type among those accepted.
func inputType(header string, accepted []string) (string, error) {
	if header == "" {
		return accepted[0], nil
	}
	if t, _, err := mime.ParseMediaType(header); err == nil && slices.Contains(accepted, t) {
		return t, nil
	}
	return "", NewUnsupportedMediaType(accepted)
}

// NewUnsupportedMediaType returns the 415 for a body of any other type than those accepted.
func NewUnsupportedMediaType(accepted []string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " + strings.Join(accepted, ", "),
	}}
}

// errScaleBody is the answer of a custom resource's scale to any body that is not a Scale.
var errScaleBody = apierrors.NewBadRequest(`no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:110"`)

// decodeError says why a body is not an object of the kind.
func decodeError(cause error, want schema.GroupVersionKind, have *schema.GroupVersionKind, body []byte) error {
	if have != nil && have.Kind != "" {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", have.Kind, have.Version, want.Kind, cause))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", want.Kind, cause, summary(body)))
}

// shownBody limits how much of a body an error shows, in bytes.
const shownBody = 30

func summary(body []byte) string {
	if len(body) == 0 {
		return "<empty>"
	}
	text := func(b []byte) string { return string(b) }
	if body[0] != '{' {
		text = hex.EncodeToString
	}
	if len(body) > shownBody {
		return text(body[:shownBody]) + " ..."
	}
	return text(body)
}

// Prefixes of the YAML library's errors about duplicate keys, which it joins into one error.
var yamlPrefixes = []string{
	"error converting YAML to JSON: yaml: unmarshal errors:\n",
	"yaml: unmarshal errors:\n",
}

// StrictWarnings returns strict decoding errors as Warning headers.
func StrictWarnings(errs []error) []string {
	var warnings []string
	for _, err := range errs {
		lines := []string{err.Error()}
		for _, prefix := range yamlPrefixes {
			if rest, found := strings.CutPrefix(err.Error(), prefix); found {
				lines = strings.Split(rest, "\n")
				break
			}
		}
		for _, line := range lines {
			warnings = append(warnings, strings.TrimSpace(line))
		}
	}
	return warnings
}

// The serializers of scales. They have no state.
var (
	jsonSerializer  = json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{})
	jsonStrict      = json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{Strict: true})
	yamlSerializer  = json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{Yaml: true})
	yamlStrict      = json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{Yaml: true, Strict: true})
	protoSerializer = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
)

// scaleDecoder reads the scale of a custom resource.
type scaleDecoder struct{}

// Accepts returns JSON, YAML and protobuf.
func (scaleDecoder) Accepts() []string { return []string{JSON, YAML, Protobuf} }

// Decode decodes into a Go type.
func (scaleDecoder) Decode(data []byte, mediaType string, strict bool) (runtime.Object, *schema.GroupVersionKind, error) {
	var decoder runtime.Decoder
	switch {
	case mediaType == Protobuf:
		decoder = protoSerializer
	case mediaType == YAML && strict:
		decoder = yamlStrict
	case mediaType == YAML:
		decoder = yamlSerializer
	case strict:
		decoder = jsonStrict
	default:
		decoder = jsonSerializer
	}
	want := ScaleKind
	obj, gvk, err := decoder.Decode(data, &want, nil)
	if err != nil && !runtime.IsStrictDecodingError(err) {
		return nil, gvk, err
	}
	if obj == nil {
		return nil, gvk, err
	}
	if gvk.GroupVersion() == ScaleKind.GroupVersion() && gvk.Kind != ScaleKind.Kind {
		return nil, gvk, fmt.Errorf("converting (%s) to (%s): unknown conversion", goName(*gvk), goName(ScaleKind))
	}
	obj.GetObjectKind().SetGroupVersionKind(*gvk)
	return obj, gvk, err
}

// goName formats a type as errors of the conversion library do.
func goName(gvk schema.GroupVersionKind) string { return gvk.Version + "." + gvk.Kind }
