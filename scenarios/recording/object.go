package recording

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/scenarios/script"
)

// initialEventsEnd annotates the bookmark that ends a streaming list (S15).
const initialEventsEnd = "k8s.io/initial-events-end"

// object is one version of a recorded object.
type object struct {
	place
	document int // number of the event, or of the object in a list; from 1
	gvk      schema.GroupVersionKind
	key      string // "namespace/name", or "name" if cluster-scoped
	scoped   bool   // it has a namespace
	uid      string
	rv       int64
	raw      []byte // compact JSON, redacted
}

// header contains the fields that Import reads of an object.
type header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name            string            `json:"name"`
		Namespace       string            `json:"namespace"`
		UID             string            `json:"uid"`
		ResourceVersion string            `json:"resourceVersion"`
		Annotations     map[string]string `json:"annotations"`
	} `json:"metadata"`
}

var (
	kindName    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)
	groupName   = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)
	versionName = regexp.MustCompile(`^v[0-9][a-z0-9]*$`)
	pluralName  = regexp.MustCompile(`^[a-z]([a-z0-9-]*[a-z0-9])?$`)
)

// wrong returns an error about an object or event.
func wrong(at place, document int, hint, format string, args ...any) error {
	err := script.Errorf(at.pos, hint, format, args...)
	err.Msg = "document " + strconv.Itoa(document) + " (byte " + strconv.FormatInt(at.offset, 10) + "): " + err.Msg
	return err
}

// readObject returns an object with a compact copy of its JSON. kind is the default for items of a typed list, which have
// none of their own.
func readObject(at place, document int, raw []byte, kind schema.GroupVersionKind) (*object, error) {
	h, err := readHeader(at, document, raw)
	if err != nil {
		return nil, err
	}
	o := &object{place: at, document: document, gvk: kind, uid: h.Metadata.UID}
	inherited := h.Kind == "" && h.APIVersion == "" && !kind.Empty()
	if !inherited {
		if o.gvk, err = readKind(at, document, h); err != nil {
			return nil, err
		}
	}
	if o.key, o.scoped, err = readKey(at, document, h); err != nil {
		return nil, err
	}
	if o.rv, err = readRevision(at, document, h, o.key); err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if inherited {
		// A watch always sends these fields, so the replayed object has them too.
		compact.WriteString(`{"apiVersion":` + quoteJSON(o.gvk.GroupVersion().String()) + `,"kind":` + quoteJSON(o.gvk.Kind) + `,`)
		raw = bytes.TrimLeft(raw, " \t\r\n")[1:]
		var rest bytes.Buffer
		if err := json.Compact(&rest, append([]byte("{"), raw...)); err != nil {
			return nil, wrong(at, document, jsonHint, "%v", err)
		}
		compact.Write(rest.Bytes()[1:])
	} else if err := json.Compact(&compact, raw); err != nil {
		return nil, wrong(at, document, jsonHint, "%v", err)
	}
	if compact.Len() > maxObjectSize {
		return nil, wrong(at, document, "exclude it from the recording", "the object %s has %s; a line of a script must be shorter than 4 MiB",
			o.key, script.FormatSize(int64(compact.Len())))
	}
	o.raw = compact.Bytes()
	return o, nil
}

func readHeader(at place, document int, raw []byte) (header, error) {
	var h header
	if first := bytes.TrimLeft(raw, " \t\r\n"); len(first) == 0 || first[0] != '{' {
		return h, wrong(at, document, jsonHint, "the event has no object")
	}
	if err := json.Unmarshal(raw, &h); err != nil {
		msg := err.Error()
		if typed, ok := err.(*json.UnmarshalTypeError); ok {
			msg = "the object's " + typed.Field + " is a " + typed.Value + ", want " + typed.Type.String()
		}
		return h, wrong(at, document, "objects have the form of the Kubernetes API", "%s", msg)
	}
	return h, nil
}

func readKind(at place, document int, h header) (schema.GroupVersionKind, error) {
	const hint = "record with kubectl get -o json"
	if h.Kind == "" || h.APIVersion == "" {
		return schema.GroupVersionKind{}, wrong(at, document, hint, "the object has no apiVersion or kind")
	}
	gv, err := schema.ParseGroupVersion(h.APIVersion)
	if err != nil || !versionName.MatchString(gv.Version) || gv.Group != "" && !groupName.MatchString(gv.Group) {
		return schema.GroupVersionKind{}, wrong(at, document, hint, "the object's apiVersion %s is malformed", shorten(h.APIVersion))
	}
	if !kindName.MatchString(h.Kind) {
		return schema.GroupVersionKind{}, wrong(at, document, hint, "the object's kind %s is malformed", shorten(h.Kind))
	}
	return gv.WithKind(h.Kind), nil
}

func readKey(at place, document int, h header) (key string, scoped bool, err error) {
	name, namespace := h.Metadata.Name, h.Metadata.Namespace
	if name == "" {
		return "", false, wrong(at, document, "record objects with kubectl get -o json", "the %s object has no metadata.name", h.Kind)
	}
	if strings.ContainsRune(name, '/') || strings.ContainsRune(namespace, '/') {
		return "", false, wrong(at, document, "record objects with kubectl get -o json",
			"the object's name %s has a /", shorten(namespace+" "+name))
	}
	if namespace == "" {
		return name, false, nil
	}
	return namespace + "/" + name, true, nil
}

func readRevision(at place, document int, h header, key string) (int64, error) {
	text := h.Metadata.ResourceVersion
	if text == "" {
		return 0, wrong(at, document, "record objects of a cluster, not manifests", "the object %s has no metadata.resourceVersion", shorten(key))
	}
	rv, err := strconv.ParseInt(text, 10, 64)
	if err != nil || rv <= 0 || strconv.FormatInt(rv, 10) != text {
		return 0, wrong(at, document, "record a cluster that counts revisions",
			"the resourceVersion %s of %s is not a positive number", shorten(text), shorten(key))
	}
	return rv, nil
}

// shorten quotes a text for a message.
func shorten(text string) string {
	const most = 80
	if len(text) > most {
		return strconv.Quote(strings.ToValidUTF8(text[:most], "")) + "…"
	}
	return strconv.Quote(text)
}

func quoteJSON(s string) string {
	quoted, err := json.Marshal(s)
	if err != nil {
		panic("a string cannot be marshalled: " + err.Error()) // json.Marshal of a string has no error
	}
	return string(quoted)
}
