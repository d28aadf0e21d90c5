package world

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Editing the JSON comes to the same as editing the object.
func TestDocumentsAreEdited(t *testing.T) {
	for _, text := range []string{
		`{}`,
		`{"metadata":{"name":"a","namespace":"other","uid":"u","resourceVersion":"7"},"data":{"k":"v"}}`,
		` { "kind" : "Old" , "spec" : [ { "a" : "}\\\"]" } , 1.5e3, null , true ] , "apiVersion":"v0" , "metadata" : { "labels" : { "x" : "é\\u0041<" } } } `,
		`{"metadata":{"resourceVersion":12,"creationTimestamp":null},"n":12345678901234567890,"m":-1}`,
	} {
		u := &unstructured.Unstructured{}
		if err := utiljson.Unmarshal([]byte(text), &u.Object); err != nil {
			t.Fatal(err)
		}
		d, err := readDocument([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		want := u.GetResourceVersion()
		if got, read := d.meta("resourceVersion"), versionIn([]byte(text)); got != want || read != want {
			t.Errorf("%s: resourceVersion %q and %q instead of %q", text, got, read, want)
		}
		u.SetAPIVersion("v1")
		u.SetKind("Thing")
		u.SetNamespace("de<fault")
		u.SetUID("")
		u.SetResourceVersion("9")
		d.apiVersion, d.kind = "v1", "Thing"
		d.setMeta("namespace", "de<fault")
		d.setMeta("uid", "")
		d.setMeta("resourceVersion", "9")
		var got map[string]any
		if err := utiljson.Unmarshal(d.bytes(), &got); err != nil || !reflect.DeepEqual(got, u.Object) {
			t.Errorf("%s becomes\n%s, %v", text, d.bytes(), err)
		}
	}
}

func TestWhatIsNoDocument(t *testing.T) {
	for _, text := range []string{
		``, ` `, `null`, `7`, `"a"`, `[]`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":}`, `{1:2}`, `{"a" "b"}`, `{"a":1 "b":2}`, `{"a":"\`, `{"a":{"b":[}`, `{} {}`, `{"metadata":[]}`, `{"metadata":"m"}`,
	} {
		if d, err := readDocument([]byte(text)); err == nil {
			t.Errorf("%s is read as %s", text, d.bytes())
		}
	}
}
