package rest

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/informersim/informersim/fakeapiserver"
)

// encoder is how one request wants its answer: JSON, pretty or not, or YAML.
type encoder struct {
	yaml, pretty bool
}

const (
	mediaJSON  = "application/json"
	mediaYAML  = "application/yaml"
	mediaProto = "application/vnd.kubernetes.protobuf"
)

// negotiate reads the Accept header: the first media type that the resource can be shown in.
func negotiate(c *call) (encoder, error) {
	e := encoder{pretty: wantsPretty(c)}
	accept := c.request.Header.Values("Accept")
	if len(accept) == 0 || strings.Join(accept, "") == "" {
		return e, nil
	}
	for _, part := range strings.Split(strings.Join(accept, ","), ",") {
		t, _, err := mime.ParseMediaType(strings.TrimSpace(part))
		if err != nil {
			continue
		}
		switch t {
		case mediaJSON, "*/*", "application/*":
			return e, nil
		case mediaYAML:
			e.yaml = true
			return e, nil
		}
	}
	return encoder{}, &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
		Message: "only the following media types are accepted: " + strings.Join([]string{mediaJSON, mediaYAML, mediaProto}, ", "),
	}}
}

// wantsPretty: a person who looks at the answer gets it indented (S38).
func wantsPretty(c *call) bool {
	if v, ok := c.request.URL.Query()["pretty"]; ok {
		return v[0] != "" && queryBool(v)
	}
	agent := c.request.Header.Get("User-Agent")
	return strings.HasPrefix(agent, "curl") || strings.HasPrefix(agent, "Wget") || strings.HasPrefix(agent, "Mozilla/")
}

func (e encoder) contentType() string {
	if e.yaml {
		return mediaYAML
	}
	return mediaJSON
}

func (e encoder) statusType() string { return e.contentType() }

func (e encoder) streamType() string { return mediaJSON }

// streams tells whether a watch can be sent this way: YAML has no framing (S20).
func (e encoder) streams() error {
	if !e.yaml {
		return nil
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
		Message: "only the following media types are accepted: " + strings.Join([]string{mediaJSON, mediaProto}, ", "),
	}}
}

// finish puts encoded JSON into the wanted form.
func (e encoder) finish(b []byte) ([]byte, error) {
	switch {
	case e.yaml:
		return yaml.JSONToYAML(b)
	case e.pretty:
		var out bytes.Buffer
		if err := json.Indent(&out, b, "", "  "); err != nil {
			return nil, err
		}
		return out.Bytes(), nil
	}
	return append(b, '\n'), nil
}

func (e encoder) status(st *metav1.Status) []byte {
	b, err := json.Marshal(st)
	if err == nil {
		b, err = e.finish(b)
	}
	if err != nil {
		return []byte(st.Message) // a Status always encodes
	}
	return b
}

// object encodes an object in the request's version.
func (e encoder) object(c *call, obj runtime.Object) ([]byte, error) {
	b, err := encodeObject(c, obj)
	if err != nil {
		return nil, err
	}
	return e.finish(b)
}

// encodeObject is the object as JSON in the request's version; kinds that are not the resource's own stay what they are.
func encodeObject(c *call, obj runtime.Object) ([]byte, error) {
	converted := obj
	if st, ok := obj.(*metav1.Status); ok {
		typed := *st
		typed.Kind, typed.APIVersion = "Status", "v1"
		return json.Marshal(&typed)
	}
	if gvk := obj.GetObjectKind().GroupVersionKind(); gvk.GroupKind() == (schema.GroupKind{Group: c.resource.Group, Kind: c.resource.Kind}) {
		var err error
		if converted, err = c.resource.Strategy.Convert(obj); err != nil {
			return nil, err
		}
	}
	return json.Marshal(converted)
}

// list encodes a page.
func (e encoder) list(c *call, page *fakeapiserver.Page) ([]byte, error) {
	type listMeta struct {
		Continue           *string `json:"continue,omitempty"`
		RemainingItemCount *int64  `json:"remainingItemCount,omitempty"`
		ResourceVersion    string  `json:"resourceVersion"`
	}
	list := struct {
		APIVersion string            `json:"apiVersion"`
		Items      []json.RawMessage `json:"items"`
		Kind       string            `json:"kind"`
		Metadata   listMeta          `json:"metadata"`
	}{
		APIVersion: c.resource.GroupVersion().String(), Kind: c.resource.ListKind, Items: make([]json.RawMessage, len(page.Items)),
		Metadata: listMeta{RemainingItemCount: page.RemainingItemCount, ResourceVersion: page.ResourceVersion},
	}
	if page.Continue != "" || c.resource.Custom {
		list.Metadata.Continue = &page.Continue // always there for custom resources (S7)
	}
	for i, obj := range page.Items {
		b, err := encodeObject(c, obj)
		if err != nil {
			return nil, err
		}
		list.Items[i] = b
	}
	b, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	return e.finish(b)
}

// frame encodes a watch event as one line.
func (e encoder) frame(c *call, ev fakeapiserver.Event) ([]byte, error) {
	obj, err := encodeObject(c, ev.Object)
	if err != nil {
		return nil, err
	}
	b := append([]byte(`{"type":"`), ev.Type...)
	b = append(b, `","object":`...)
	b = append(b, obj...)
	return append(b, '}', '\n'), nil
}
