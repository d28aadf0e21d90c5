package rest_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	kinds "github.com/informersim/informersim/fakeapiserver/builtin"
	"github.com/informersim/informersim/fakeapiserver/render"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// customStrategy implements enough of a custom resource's strategy to show objects.
type customStrategy struct{ types.Strategy }

func (customStrategy) NewList() runtime.Object {
	u := &unstructured.UnstructuredList{}
	u.SetAPIVersion("x.dev/v1")
	u.SetKind("ThingList")
	return u
}

func things() *types.Resource {
	return &types.Resource{Group: "x.dev", Version: "v1", Kind: "Thing", ListKind: "ThingList", Plural: "things", Custom: true, Strategy: customStrategy{}}
}

// sample returns an object whose name looks like parts of lists and frames.
func sample(t testing.TB, r *types.Resource, i int) runtime.Object {
	if r.Custom {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "x.dev/v1", "kind": "Thing", "metadata": map[string]any{"name": fmt.Sprint("thing-", i), "resourceVersion": "7"},
			"spec": map[string]any{"text": `"items":[]}` + "\n<k8s\x00>", "n": int64(i), "f": 1.5, "none": nil},
		}}
	}
	obj := r.Strategy.New()
	m, ok := obj.(metav1.Object)
	if !ok {
		return nil
	}
	m.SetName(fmt.Sprintf(`"items":[]k8s-%d`, i))
	m.SetResourceVersion("7")
	m.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:a":{}}`)}}})
	return obj
}

func source(forms *render.Forms, v *render.View, obj runtime.Object) *render.Source {
	return &render.Source{View: v, Form: forms.Object(v), Event: watch.Modified, Now: noon, Object: obj}
}

// Output assembled from cached bytes equals a fresh encoding, for every kind in every form.
func TestCachedBytesEqualFreshEncodings(t *testing.T) {
	const partial, partials = ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io", ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
	forms := &render.Forms{}
	lists := map[string]int{}
	for _, r := range append(kinds.Resources(kinds.Options{}), things()) {
		objs := []runtime.Object{sample(t, r, 1), sample(t, r, 2), sample(t, r, 3)}
		if objs[0] == nil {
			continue // a review has no metadata
		}
		cache := make([]render.Encoded, len(objs))
		for _, accept := range []string{
			types.JSON, types.Protobuf, types.JSON + partial, types.Protobuf + partial, types.JSON + partials, types.Protobuf + partials,
			strings.ReplaceAll(types.JSON+partials, "v=v1", "v=v1beta1"), strings.ReplaceAll(types.Protobuf+partial, "v=v1", "v=v1beta1"),
		} {
			f, err := render.Ask{Accept: accept}.Negotiate(r, "")
			if err != nil {
				continue // custom resources have no protobuf
			}
			v, err := render.NewView(f, r, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // first encoded, then cached
				if forms.Object(v) != nil {
					sameObject(t, forms, v, &cache[0], objs[0])
				}
				for n := range len(objs) + 1 {
					if sameList(t, forms, v, r, cache[:n], objs[:n]) {
						lists[accept]++
					}
				}
			}
		}
	}
	for accept, n := range lists { // order: each is checked on its own
		if n == 0 {
			t.Errorf("no list in %s was assembled from cached bytes", accept)
		}
	}
	if len(lists) < 5 {
		t.Errorf("only these forms had lists assembled from cached bytes: %v", lists)
	}
}

func sameObject(t *testing.T, forms *render.Forms, v *render.View, cache *render.Encoded, obj runtime.Object) {
	t.Helper()
	shown, err := v.Of(obj, noon)
	if err != nil {
		t.Fatal(err)
	}
	want, err := v.Format().Encode(shown)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := cache.Whole(source(forms, v, obj))
	if err != nil || !bytes.Equal(whole.Bytes(), want) || whole.Len() != len(want) {
		t.Errorf("%T in %v: %v\n%q\nwant\n%q", obj, v.Format(), err, whole.Bytes(), want)
	}
	for _, event := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
		want, err := v.Frame(event, obj, noon)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := cache.Frame(event, source(forms, v, obj)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s of %T in %v: %v\n%q\nwant\n%q", event, obj, v.Format(), err, got, want)
		}
	}
}

// sameList reports whether the list can be assembled from cached bytes.
func sameList(t *testing.T, forms *render.Forms, v *render.View, r *types.Resource, cache []render.Encoded, objs []runtime.Object) bool {
	t.Helper()
	three := int64(3)
	for _, m := range []metav1.ListMeta{{ResourceVersion: "9"}, {ResourceVersion: "9", Continue: `"items":[]`, RemainingItemCount: &three}} {
		list, err := render.List(r, objs, m)
		if err != nil {
			return false // of kinds that have no lists
		}
		shown, err := v.Of(list, noon)
		if err != nil {
			return false // a list as PartialObjectMetadata
		}
		want, err := v.Format().Encode(shown)
		if err != nil {
			return false // of kinds that have no list in protobuf
		}
		if forms.Item(v) == nil {
			return false
		}
		var items [][]byte
		for i, obj := range objs {
			s := source(forms, v, obj)
			s.Form = forms.Item(v)
			item, ok, err := cache[i].Item(s)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				t.Errorf("%T in %v cannot be part of a list", obj, v.Format())
				return false
			}
			items = append(items, item)
		}
		got, ok, err := render.ListBody(v, items, m, noon)
		if _, untyped := list.(runtime.Unstructured); untyped && !r.Custom && !ok && err == nil {
			return false
		}
		if err != nil || !ok {
			t.Errorf("%d of %s in %v: %v, %v", len(items), r, v.Format(), ok, err)
			return false
		}
		if !bytes.Equal(got.Bytes(), want) || got.Len() != len(want) {
			t.Errorf("%d of %s in %v:\n%q\nwant\n%q", len(items), r, v.Format(), got.Bytes(), want)
		}
	}
	return true
}

func TestChangingOutputIsNotCached(t *testing.T) {
	forms := &render.Forms{}
	pods := builtinOf(t, "pods")
	for _, accept := range []string{types.YAML, types.JSON + ";as=Table;v=v1;g=meta.k8s.io"} {
		if v := view(t, pods, accept, ""); forms.Object(v) != nil || forms.Item(v) != nil {
			t.Errorf("%s has a form", accept)
		}
	}
	if v := view(t, pods, types.JSON, "pretty=1"); forms.Item(v) != nil {
		t.Error("a pretty list is assembled from compact items")
	}
}

func TestObjectsAreEncodedOnce(t *testing.T) {
	forms, v := &render.Forms{}, view(t, builtinOf(t, "pods"), types.JSON, "")
	var cache render.Encoded
	made := 0
	s := source(forms, v, pod("a"))
	s.Convert = func(obj runtime.Object) (runtime.Object, error) {
		made++
		return obj, nil
	}
	first, err := cache.Frame(watch.Modified, s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := cache.Frame(watch.Modified, s)
	if err != nil || &first[0] != &again[0] || made != 1 {
		t.Errorf("the same frame was encoded %d times, want 1 (%v)", made, err)
	}
	s.Convert = func(runtime.Object) (runtime.Object, error) { return nil, fmt.Errorf("no such version") }
	if _, err := (&render.Encoded{}).Frame(watch.Added, s); err == nil {
		t.Error("an object that cannot be converted was encoded")
	}
}

func TestBodyReadsInAnyPortions(t *testing.T) {
	for n := range 4 {
		b := render.Body{Head: []byte("head"), Between: []byte(","), Tail: []byte("tail")}
		want := "head"
		for i := range n {
			item := strings.Repeat("x", i)
			b.Items = append(b.Items, []byte(item))
			if i > 0 {
				want += ","
			}
			want += item
		}
		want += "tail"
		if err := iotest.TestReader(b.NewReader(), []byte(want)); err != nil {
			t.Errorf("%d items: %v", n, err)
		}
		if b.Len() != len(want) || string(b.Bytes()) != want {
			t.Errorf("%d items: %d bytes %q, want %q", n, b.Len(), b.Bytes(), want)
		}
		one, err := io.ReadAll(iotest.OneByteReader(b.NewReader()))
		if err != nil || string(one) != want {
			t.Errorf("%d items, byte by byte: %q, %v", n, one, err)
		}
	}
}

func BenchmarkFrame(b *testing.B) {
	for _, accept := range []string{types.JSON, types.Protobuf} {
		forms, v, obj := &render.Forms{}, view(b, builtinOf(b, "pods"), accept, ""), pod("a")
		b.Run(strings.TrimPrefix(accept, "application/"), func(b *testing.B) {
			for b.Loop() {
				if _, err := v.Frame(watch.Modified, obj, noon); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(strings.TrimPrefix(accept, "application/")+"/cached", func(b *testing.B) {
			var cache render.Encoded
			s := source(forms, v, obj)
			for b.Loop() {
				if _, err := cache.Frame(watch.Modified, s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkListBody assembles a list of 10,000 pods from cached items, and encodes it whole for comparison.
func BenchmarkListBody(b *testing.B) {
	const n = 10_000
	for _, accept := range []string{types.JSON, types.Protobuf} {
		r := builtinOf(b, "pods")
		forms, v := &render.Forms{}, view(b, r, accept, "")
		objs, cache := make([]runtime.Object, n), make([]render.Encoded, n)
		for i := range objs {
			objs[i] = &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: pod(fmt.Sprint("pod-", i)).ObjectMeta}
		}
		m := metav1.ListMeta{ResourceVersion: "9"}
		b.Run(strings.TrimPrefix(accept, "application/"), func(b *testing.B) {
			for b.Loop() {
				list, err := render.List(r, objs, m)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := v.Format().Encode(list); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(strings.TrimPrefix(accept, "application/")+"/cached", func(b *testing.B) {
			buf := make([]byte, 64<<10)
			s := source(forms, v, nil)
			for b.Loop() {
				items := make([][]byte, 0, n)
				for i := range cache {
					s.Object = objs[i]
					item, _, err := cache[i].Item(s)
					if err != nil {
						b.Fatal(err)
					}
					items = append(items, item)
				}
				body, ok, err := render.ListBody(v, items, m, noon)
				if err != nil || !ok {
					b.Fatal(ok, err)
				}
				if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, body.NewReader(), buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
