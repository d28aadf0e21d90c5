package world

import (
	"encoding/json"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// bodyOf returns the body of a request as the ready-made properties read it. Clients of built-in kinds send objects in protobuf, those of newer releases of client-go unless they are told otherwise:
// such an object is put into JSON. What cannot be decoded stays as it is.
func bodyOf(q *request) string {
	sent := q.rest.Body
	if m := q.rest.Method; m != http.MethodPost && m != http.MethodPut || !strings.HasPrefix(q.rest.Header.Get("Content-Type"), runtime.ContentTypeProtobuf) {
		return string(sent)
	}
	obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(sent, nil, nil)
	if err != nil {
		return string(sent)
	}
	data, err := json.Marshal(obj)
	if err != nil {
		return string(sent)
	}
	return string(data)
}
