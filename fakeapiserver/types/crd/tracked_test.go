package crd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/informersim/informersim/fakeapiserver/patch"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// Turns each of some objects into each of the others: a remembered outcome must not be reused for a write that differs in a single
// thing.
func TestWritersDistinguishSimilarWrites(t *testing.T) {
	const meta, spec = `"finalizers":["x.y/z"],"labels":{"a":"1"}`, `"color":"red","size":1,"tags":["a"],"ports":[{"name":"p"}],"free":{"x":1}`
	bodies := []string{meta, spec}
	for _, change := range [][2]string{
		{`"1"}`, `"2"}`}, {`"a":`, `"b":`}, {`"x.y/z"`, `"x.y/w"`}, {`"labels"`, `"annotations"`}, {`red`, `blue`}, {`red`, ``}, {`"size":1`, `"size":2`},
		{`"color":"red",`, ``}, {`["a"]`, `["b"]`}, {`["a"]`, `["a","b"]`}, {`"p"`, `"q"`}, {`"p"}`, `"p","port":81}`}, {`"x":1`, `"x":2`}, {`"x":1`, `"x":1.5`},
		{`"x":1`, `"x":true`}, {`"x":1`, `"x":"1"`}, {`"x":1`, `"x":{}`}, {`"x":1`, `"x":{"y":1}`}, {`"x":1`, `"x":[1]`}, {`"x":1`, `"x":null`}, {`"x":1`, `"y":1`}, {`"x":1`, ``},
	} {
		bodies = append(bodies, strings.Replace(meta, change[0], change[1], 1), strings.Replace(spec, change[0], change[1], 1))
	}
	for i := 0; i < len(bodies); i += 2 {
		bodies[i/2] = fmt.Sprintf(`{"apiVersion":"conformance.informersim.dev/v1","kind":"Gizmo","metadata":{"name":"d","resourceVersion":"7",%s},"spec":{%s}}`, bodies[i], bodies[i+1])
	}
	bodies = bodies[:len(bodies)/2]
	r := newRegistry(t).All()[0]
	write := func(w *patch.Writer, live runtime.Object, body, manager string) runtime.Object {
		t.Helper()
		var result patch.Result
		var err error
		if live == nil {
			q := writeTo(r, "")
			q.Name = ""
			body = strings.Replace(body, `"resourceVersion":"7",`, "", 1)
			result, err = w.Create(q, types.Body{Data: []byte(body)}, &metav1.CreateOptions{FieldManager: manager})
		} else {
			result, err = w.Update(writeTo(r, ""), live, types.Body{Data: []byte(body)}, &metav1.UpdateOptions{FieldManager: manager})
		}
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		result.Object.(metav1.Object).SetResourceVersion("7")
		return result.Object
	}
	old := patch.NewWriter()
	for _, first := range bodies {
		fresh := patch.NewWriter()
		want := write(fresh, nil, first, "m")
		if got := write(old, nil, first, "m"); !reflect.DeepEqual(got, want) {
			t.Fatalf("the create of %s gave\n%v\nwant\n%v", first, got, want)
		}
		for _, second := range bodies {
			for _, manager := range []string{"m", "n"} {
				after := write(patch.NewWriter(), want, second, manager)
				if got := write(old, want, second, manager); !reflect.DeepEqual(got, after) {
					t.Fatalf("%s\nturned into %s\nby %s gave\n%v\nwant\n%v", first, second, manager, got, after)
				}
			}
		}
	}
}

// likeGizmos draws bodies that differ little: in values, in fields, in members of lists.
func likeGizmos() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		meta, spec := map[string]any{"name": "d", "resourceVersion": "7"}, map[string]any{}
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

// A Writer that has seen many writes tracks the same fields as a new one.
func TestCachedWritersTrackTheSameFields(t *testing.T) {
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
					body.Data = bytes.Replace(body.Data, []byte(`"resourceVersion":"7"`), []byte(`"resourceVersion":""`), 1)
					result, err = w.Create(q, body, &metav1.CreateOptions{FieldManager: manager})
				case apply:
					force := true
					result, err = w.Patch(q, live[n], "application/apply-patch+yaml", body.Data, &metav1.PatchOptions{FieldManager: manager, Force: &force})
				default:
					result, err = w.Update(q, live[n], body, &metav1.UpdateOptions{FieldManager: manager})
				}
				if err == nil {
					live[n] = result.Object
					live[n].(metav1.Object).SetResourceVersion("7")
				} else if strings.Contains(err.Error(), "resourceVersion") {
					t.Fatal(err) // a conflict is a bug in the test
				}
			}
			if !reflect.DeepEqual(live[0], live[1]) {
				t.Fatalf("write %d gave\n%v\nwant\n%v", i, live[0], live[1])
			}
			if live[0] == nil {
				return
			}
		}
	})
}
