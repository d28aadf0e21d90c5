package rest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	restwatch "k8s.io/client-go/rest/watch"

	kinds "github.com/informersim/informersim/fakeapiserver/builtin"
	"github.com/informersim/informersim/fakeapiserver/render"
	"github.com/informersim/informersim/fakeapiserver/types"
)

var noon = time.Date(2030, 5, 5, 12, 0, 0, 0, time.UTC)

func builtinOf(t testing.TB, plural string) *types.Resource {
	t.Helper()
	for _, r := range kinds.Resources(kinds.Options{}) {
		if r.Plural == plural {
			return r
		}
	}
	t.Fatalf("no resource %s", plural)
	return nil
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", ResourceVersion: "7", Labels: map[string]string{"a": "<b>"}, CreationTimestamp: metav1.NewTime(noon.Add(-90 * time.Minute))},
		Spec:       corev1.PodSpec{NodeName: "n1"},
	}
}

// The formats requested in the goldens, and those that only built-in kinds have.
func TestNegotiate(t *testing.T) {
	pods := builtinOf(t, "pods")
	custom := *pods
	custom.Custom = true
	const table, meta = ";as=Table;v=v1;g=meta.k8s.io", ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	for _, c := range []struct {
		accept       string
		custom, want string // MediaType[ kind]; "" for 406
	}{
		{"", types.JSON, types.JSON},
		{"*/*", types.JSON, types.JSON},
		{"application/*", types.JSON, types.JSON},
		{"application/yaml", types.YAML, types.YAML},
		{"application/json;q=0.1,application/yaml", types.YAML, types.YAML},
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", types.JSON, types.JSON},
		{"text/plain", "", ""},
		{"application/cbor", "", ""},
		{"*/json", "", ""},
		{types.Protobuf, "", types.Protobuf},
		{types.Protobuf + ",application/json", types.JSON, types.Protobuf},
		{types.JSON + table, types.JSON + " Table", types.JSON + " Table"},
		{types.YAML + table, types.YAML + " Table", types.YAML + " Table"},
		{types.JSON + ";as=Table;v=v1beta1;g=meta.k8s.io", types.JSON + " Table", types.JSON + " Table"},
		{types.JSON + ";as=Table;v=v9;g=meta.k8s.io", "", ""},
		{types.JSON + ";as=Table;v=v9;g=meta.k8s.io,application/json", types.JSON, types.JSON},
		{types.JSON + ";as=Table;v=v1;g=other.io", "", ""},
		{types.JSON + ";as=Nonsense;v=v1;g=meta.k8s.io", "", ""},
		{types.Protobuf + table, "", ""},
		{types.Protobuf + meta, types.Protobuf + " PartialObjectMetadata", types.Protobuf + " PartialObjectMetadata"},
		{types.JSON + ";stream=watch", types.JSON, types.JSON},
		{types.JSON + ";stream=other", "", ""},
		{types.JSON + ";sv=v1", types.JSON, types.JSON},
		{types.JSON + ";sv=v2", "", ""},
	} {
		for _, r := range []*types.Resource{&custom, pods} {
			want := c.want
			if r.Custom {
				want = c.custom
			}
			f, err := render.Ask{Accept: c.accept}.Negotiate(r, "")
			got := strings.TrimSpace(f.MediaType + " " + f.As.Kind)
			if err != nil {
				got = ""
				if s := render.Status(err); s.Code != http.StatusNotAcceptable || s.Message != "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf" {
					t.Errorf("Accept %q: %d %s", c.accept, s.Code, s.Message)
				}
			}
			if got != want {
				t.Errorf("Accept %q, custom %v: %q, want %q", c.accept, r.Custom, got, want)
			}
		}
	}
}

// S38.
func TestPretty(t *testing.T) {
	for _, c := range []struct {
		agent, query string
		pretty       bool
	}{
		{"probe/1", "", false}, {"probe/1", "pretty=true", true}, {"probe/1", "pretty=1", true}, {"probe/1", "pretty=0", false}, {"probe/1", "pretty", false},
		{"probe/1", "pretty=maybe", false}, {"curl/8.5.0", "", true}, {"Wget/1.21", "", true}, {"Mozilla/5.0 (X11)", "", true}, {"curl/8.5.0", "pretty=0", false},
	} {
		query, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		f, err := render.Ask{UserAgent: c.agent, Query: query}.Negotiate(builtinOf(t, "pods"), "")
		if err != nil || f.Pretty != c.pretty {
			t.Errorf("%s ?%s: pretty %v, %v", c.agent, c.query, f.Pretty, err)
			continue
		}
		data, err := f.Encode(pod("a"))
		if err != nil {
			t.Fatal(err)
		}
		if newline := bytes.HasSuffix(data, []byte("\n")); newline == c.pretty || bytes.Count(data, []byte("\n")) > 1 != c.pretty {
			t.Errorf("%s ?%s: final newline %v in\n%s", c.agent, c.query, newline, data)
		}
	}
}

// client-go's codecs decode what Encode encodes to the same object.
func TestEncodingsAreReadByClientGo(t *testing.T) {
	codecs := serializer.NewCodecFactory(scheme.Scheme)
	for _, mediaType := range []string{types.JSON, types.YAML, types.Protobuf} {
		data, err := render.Format{MediaType: mediaType}.Encode(pod("a"))
		if err != nil {
			t.Fatal(err)
		}
		obj, err := runtime.Decode(codecs.UniversalDeserializer(), data)
		if err != nil {
			t.Fatalf("%s: %v", mediaType, err)
		}
		if got := obj.(*corev1.Pod); got.Name != "a" || got.Labels["a"] != "<b>" || got.Spec.NodeName != "n1" {
			t.Errorf("%s: %+v", mediaType, got)
		}
	}
}

func TestListsOfBuiltinKinds(t *testing.T) {
	pods := builtinOf(t, "pods")
	left := int64(3)
	a := pod("a")
	list, err := render.List(pods, []runtime.Object{a, pod("b")}, metav1.ListMeta{ResourceVersion: "9", Continue: "c", RemainingItemCount: &left})
	if err != nil {
		t.Fatal(err)
	}
	l := list.(*corev1.PodList)
	if l.Kind != "PodList" || l.ResourceVersion != "9" || l.Continue != "c" || len(l.Items) != 2 || l.Items[0].Kind != "" || l.Items[1].Name != "b" {
		t.Errorf("the list is %+v", l)
	}
	if a.Kind != "Pod" {
		t.Error("the stored object lost its kind")
	}
	if _, err := render.List(pods, []runtime.Object{&appsv1.Deployment{}}, metav1.ListMeta{}); err == nil {
		t.Error("a list of pods took a deployment")
	}
	empty, err := render.List(pods, nil, metav1.ListMeta{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := render.Format{MediaType: types.JSON}.Encode(empty)
	if err != nil || !strings.Contains(string(data), `"items":[]`) {
		t.Errorf("an empty list is %s, %v", data, err)
	}
}

func view(t testing.TB, r *types.Resource, accept, query string) *render.View {
	t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	f, err := render.Ask{Accept: accept, Query: q}.Negotiate(r, "")
	if err != nil {
		t.Fatal(err)
	}
	v, err := render.NewView(f, r, "", q)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTableRowsCarryWhatIsAskedFor(t *testing.T) {
	pods := builtinOf(t, "pods")
	for query, want := range map[string]string{
		"": `"object":{"kind":"PartialObjectMetadata"`, "includeObject=Metadata": `"object":{"kind":"PartialObjectMetadata"`,
		"includeObject=None": `"object":null`, "includeObject=Object": `"object":{"kind":"Pod"`,
	} {
		v := view(t, pods, types.JSON+";as=Table;v=v1;g=meta.k8s.io", query)
		obj, err := v.Of(pod("a"), noon)
		if err != nil {
			t.Fatal(err)
		}
		data, err := v.Format().Encode(obj)
		if err != nil || !strings.Contains(string(data), want) || !strings.Contains(string(data), `"cells":["a","0/0","","0","90m","\u003cnone\u003e","n1","\u003cnone\u003e","\u003cnone\u003e"]`) {
			t.Errorf("?%s: %s, %v", query, data, err)
		}
	}
	f := render.Format{MediaType: types.JSON, As: metav1.SchemeGroupVersion.WithKind("Table")}
	if _, err := render.NewView(f, pods, "", url.Values{"includeObject": {"Nonsense"}}); !apierrors.IsBadRequest(err) {
		t.Errorf("includeObject=Nonsense: %v", err)
	}
}

func TestMetadataViews(t *testing.T) {
	pods := builtinOf(t, "pods")
	list, err := render.List(pods, []runtime.Object{pod("a")}, metav1.ListMeta{ResourceVersion: "9"})
	if err != nil {
		t.Fatal(err)
	}
	one := view(t, pods, types.JSON+";as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "")
	if obj, err := one.Of(pod("a"), noon); err != nil || obj.(*metav1.PartialObjectMetadata).Name != "a" {
		t.Errorf("metadata of an object: %v, %v", obj, err)
	}
	if _, err := one.Of(list, noon); render.Status(err).Code != http.StatusNotAcceptable {
		t.Errorf("metadata of a list: %v", err)
	}
	many := view(t, pods, types.JSON+";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", "")
	if obj, err := many.Of(list, noon); err != nil || len(obj.(*metav1.PartialObjectMetadataList).Items) != 1 {
		t.Errorf("metadata of a list: %v, %v", obj, err)
	}
}

// The decoders of client-go's watches read the frames.
func TestFramesAreReadByClientGo(t *testing.T) {
	codecs := serializer.NewCodecFactory(scheme.Scheme)
	for _, accept := range []string{types.JSON, types.Protobuf} {
		v := view(t, builtinOf(t, "pods"), accept, "pretty=true")
		var stream bytes.Buffer
		for _, event := range []watch.EventType{watch.Added, watch.Modified, watch.Bookmark, watch.Deleted} {
			frame, err := v.Frame(event, pod("a"), noon)
			if err != nil {
				t.Fatal(err)
			}
			stream.Write(frame)
		}
		gone, err := v.Frame(watch.Error, render.Status(apierrors.NewResourceExpired("too old")), noon)
		if err != nil {
			t.Fatal(err)
		}
		stream.Write(gone)
		info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), accept)
		if !ok {
			t.Fatal(accept)
		}
		decoder := restwatch.NewDecoder(
			streaming.NewDecoder(info.StreamSerializer.Framer.NewFrameReader(io.NopCloser(&stream)), info.StreamSerializer.Serializer), codecs.UniversalDeserializer())
		var got []string
		for {
			event, obj, err := decoder.Decode()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v after %q", accept, err, got)
			}
			got = append(got, fmt.Sprintf("%s %T", event, obj))
		}
		want := []string{"ADDED *v1.Pod", "MODIFIED *v1.Pod", "BOOKMARK *v1.Pod", "DELETED *v1.Pod", "ERROR *v1.Status"}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", accept, got)
		}
	}
	if err := (render.Format{MediaType: types.YAML}).Streams(); render.Status(err).Code != http.StatusNotAcceptable {
		t.Errorf("a watch as YAML: %v", err)
	}
}

// S21: only the first Table of a watch has columns.
func TestTableFrames(t *testing.T) {
	v := view(t, builtinOf(t, "pods"), types.JSON+";as=Table;v=v1;g=meta.k8s.io", "")
	for i := range 3 {
		frame, err := v.Frame(watch.Added, pod("a"), noon)
		if err != nil {
			t.Fatal(err)
		}
		var event struct {
			Object struct {
				Kind              string            `json:"kind"`
				ColumnDefinitions []json.RawMessage `json:"columnDefinitions"`
			} `json:"object"`
		}
		if err := json.Unmarshal(frame, &event); err != nil {
			t.Fatal(err)
		}
		if event.Object.Kind != "Table" || (len(event.Object.ColumnDefinitions) > 0) != (i == 0) {
			t.Errorf("frame %d: %s", i, frame)
		}
	}
}

func TestErrors(t *testing.T) {
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "a")
	for _, c := range []struct {
		ask         render.Ask
		err         error
		code        int
		contentType string
		begins      string
	}{
		{render.Ask{}, missing, 404, types.JSON, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure"`},
		{render.Ask{Accept: types.YAML}, missing, 404, types.YAML, "apiVersion: v1\n"},
		{render.Ask{Accept: types.Protobuf}, missing, 404, types.Protobuf, "k8s\x00"},
		{render.Ask{Accept: "text/plain"}, missing, 404, types.JSON, "{\n  \"kind\": \"Status\""},
		{render.Ask{Accept: types.JSON + ";as=Table;v=v1;g=meta.k8s.io"}, missing, 404, types.JSON, "{\n  \"kind\": \"Status\""},
		{render.Ask{}, fmt.Errorf("strange"), 500, types.JSON, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"strange","code":500}`},
	} {
		a := c.ask.Error(c.err)
		if a.Code != c.code || a.ContentType != c.contentType || !strings.HasPrefix(string(a.Body), c.begins) {
			t.Errorf("Accept %q, %v: %d %s %s", c.ask.Accept, c.err, a.Code, a.ContentType, a.Body)
		}
	}
	if a := (render.Ask{}).Error(apierrors.NewTooManyRequests("later", 3)); a.RetryAfterSeconds != 3 {
		t.Errorf("Retry-After is %d", a.RetryAfterSeconds)
	}
}
