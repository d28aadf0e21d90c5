package types_test

import (
	"encoding/json"
	"math"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// anyValue draws values that an unstructured object may hold, and some that it may not.
func anyValue(depth int) *rapid.Generator[any] {
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~]*`), rapid.SampledFrom([]string{"", "a", "<&>", "\u2028\u2029", "\xff\xfe", "\x00\b\f\n\r\t\x7f", `"\`}))
	leaf := rapid.OneOf(
		rapid.Map(text, func(s string) any { return s }),
		rapid.Map(rapid.Int64(), func(n int64) any { return n }),
		rapid.Map(rapid.Float64(), func(f float64) any { return f }),
		rapid.SampledFrom([]any{nil, true, false, map[string]any(nil), []any(nil), map[string]any{}, []any{}, 7, int32(8), json.Number("9"), map[string]string{"b": "1", "a": "2"}, math.Inf(1), math.NaN()}),
	)
	if depth == 0 {
		return leaf
	}
	return rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(anyValue(depth-1), 0, 4), func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(text, anyValue(depth-1), 0, 20), func(m map[string]any) any { return m }))
}

func TestAppendJSONEqualsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "K", "spec": anyValue(3).Draw(t, "spec"), "status": anyValue(1).Draw(t, "status")}}
		want, wantErr := json.Marshal(u.Object)
		got, err := types.AppendJSON([]byte("x"), u.Object)
		if (err == nil) != (wantErr == nil) || err == nil && string(got) != "x"+string(want) {
			t.Fatalf("%q, %v\nwant\n%q, %v", got, err, want, wantErr)
		}
	})
	if got, err := types.AppendJSON(nil, map[string]any(nil)); err != nil || string(got) != "null" {
		t.Errorf("a nil map: %s, %v", got, err)
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(`{"apiVersion":"x.dev/v1","kind":"Thing","metadata":{"name":"a","labels":{"app":"x"},"managedFields":[{"manager":"m","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{".":{},"f:n":{}}}}]},"spec":{"n":1,"color":"red"}}`), &u.Object); err != nil {
		b.Fatal(err)
	}
	b.Run("append", func(b *testing.B) {
		var buf []byte
		for b.Loop() {
			buf, _ = types.AppendJSON(buf[:0], u.Object)
		}
	})
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			if _, err := json.Marshal(u.Object); err != nil {
				b.Fatal(err)
			}
		}
	})
}
