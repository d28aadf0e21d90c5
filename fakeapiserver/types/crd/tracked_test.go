package crd_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/informersim/informersim/fakeapiserver/patch"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// likeGizmos are bodies that differ from each other in little: in values, in fields, in members of lists.
func likeGizmos() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		meta, spec := map[string]any{"name": "d"}, map[string]any{}
		maybe := func(into map[string]any, key string, values ...any) {
			if v := rapid.SampledFrom(append(values, nil, nil)).Draw(t, key); v != nil {
				into[key] = v
			}
		}
		maybe(meta, "labels", map[string]any{"a": "1"}, map[string]any{"a": "2"}, map[string]any{"b": "1"}, map[string]any{})
		maybe(meta, "annotations", map[string]any{"a": ""}, map[string]any{"a": "x"})
		maybe(meta, "finalizers", []any{"x.y/z"}, []any{"x.y/z", "x.y/w"})
		maybe(meta, "managedFields", []any{}, []any{map[string]any{"manager": "other", "operation": "Update", "apiVersion": "conformance.informersim.dev/v1", "time": "2020-01-01T00:00:00Z",
			"fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:color": map[string]any{}}}}})
		maybe(spec, "color", "red", "blue", "")
		maybe(spec, "size", 1, 2)
		maybe(spec, "tags", []any{"a"}, []any{"a", "b"}, []any{"b"})
		maybe(spec, "ports", []any{map[string]any{"name": "p"}}, []any{map[string]any{"name": "p", "port": 81}}, []any{map[string]any{"name": "q"}})
		maybe(spec, "limits", map[string]any{"cpu": "1"}, map[string]any{"cpu": 2}, map[string]any{"memory": 1})
		maybe(spec, "free", map[string]any{"x": 1}, map[string]any{"x": 1.5}, map[string]any{"x": true}, map[string]any{"x": []any{1}}, map[string]any{"x": map[string]any{}}, map[string]any{"x": nil})
		body := map[string]any{"apiVersion": "conformance.informersim.dev/v1", "kind": "Gizmo", "metadata": meta, "spec": spec}
		maybe(body, "status", map[string]any{"phase": "A"}, map[string]any{"phase": "B"}, map[string]any{"replicas": 1})
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	})
}

// A writer that has seen many writes makes of each what one does that has seen none.
func TestWritersThatRememberTrackTheSameFields(t *testing.T) {
	r := newRegistry(t).All()[0]
	old := patch.NewWriter()
	rapid.Check(t, func(t *rapid.T) {
		var live [2]runtime.Object // by the old writer, and by a new one each time
		for i := range rapid.IntRange(1, 5).Draw(t, "writes") {
			q := writeTo(r, "")
			q.System.Now = time.Unix(1e9+int64(rapid.IntRange(0, 2).Draw(t, "second")), 0)
			if live[0] != nil {
				q.Subresource = rapid.SampledFrom([]string{"", "", types.Status}).Draw(t, "subresource")
			}
			manager := rapid.SampledFrom([]string{"m", "n"}).Draw(t, "manager")
			body := types.Body{Data: []byte(likeGizmos().Draw(t, fmt.Sprint("body ", i)))}
			apply := live[0] != nil && rapid.IntRange(0, 3).Draw(t, "apply") == 0
			for n, w := range []*patch.Writer{old, patch.NewWriter()} {
				var result patch.Result
				var err error
				switch {
				case live[n] == nil:
					q.Name = ""
					result, err = w.Create(q, body, &metav1.CreateOptions{FieldManager: manager})
				case apply:
					force := true
					result, err = w.Patch(q, live[n], "application/apply-patch+yaml", body.Data, &metav1.PatchOptions{FieldManager: manager, Force: &force})
				default:
					result, err = w.Update(q, live[n], body, &metav1.UpdateOptions{FieldManager: manager})
				}
				if err == nil {
					live[n] = result.Object
					live[n].(metav1.Object).SetResourceVersion("")
				}
			}
			if !reflect.DeepEqual(live[0], live[1]) {
				t.Fatalf("write %d came to\n%v\nwant\n%v", i, live[0], live[1])
			}
			if live[0] == nil {
				return
			}
		}
	})
}
