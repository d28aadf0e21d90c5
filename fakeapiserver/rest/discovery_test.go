package rest_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/openapi/openapitest"
	"sigs.k8s.io/yaml"

	kinds "github.com/informersim/informersim/fakeapiserver/builtin"
	"github.com/informersim/informersim/fakeapiserver/discovery"
	"github.com/informersim/informersim/fakeapiserver/render"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/fakeapiserver/types/crd"
)

func registry(t testing.TB, builtin bool) *types.Registry {
	t.Helper()
	f, err := os.Open("../../internal/probe/resources/crds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	definitions, err := crd.LoadManifests(f)
	if err != nil {
		t.Fatal(err)
	}
	custom, err := crd.Compile(definitions...)
	if err != nil {
		t.Fatal(err)
	}
	reg := types.NewRegistry()
	if builtin {
		if err := reg.Add(kinds.Resources(kinds.Options{})...); err != nil {
			t.Fatal(err)
		}
	}
	if err := reg.Add(custom...); err != nil {
		t.Fatal(err)
	}
	return reg
}

type goldenStep struct {
	Do      string            `json:"do"`
	Code    int               `json:"code"`
	Headers map[string]string `json:"headers"`
	Body    any               `json:"body"`
}

var stepText = regexp.MustCompile(`^([A-Z]+) (/\S*)((?: \[[^\]]*\])*)`)

func header(step, name string) string {
	m := regexp.MustCompile(`\[` + name + `: ?([^\]]*)\]`).FindStringSubmatch(step)
	if m == nil {
		return ""
	}
	return m[1]
}

// pick follows a JSON pointer; a part NAME= picks the list item with that metadata.name.
func pick(v any, pointer string) any {
	for _, part := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		part = strings.ReplaceAll(part, "~1", "/")
		if name, ok := strings.CutPrefix(part, "="); ok {
			items, _ := v.([]any)
			for _, item := range items {
				m, _ := item.(map[string]any)
				if meta, _ := m["metadata"].(map[string]any); meta["name"] == name {
					v = item
				}
			}
			continue
		}
		if m, ok := v.(map[string]any); ok && part != "" {
			v = m[part]
		}
	}
	return v
}

func keys(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	all := make([]string, 0, len(m))
	for k := range m {
		all = append(all, k)
	}
	sort.Strings(all)
	out := make([]any, len(all))
	for i := range all {
		out[i] = all[i]
	}
	return out
}

// sorted sorts what the recorded answers have in order: the resources of a list.
func sorted(v any) any {
	if m, ok := v.(map[string]any); ok {
		for _, part := range []string{"resources"} {
			if items, ok := m[part].([]any); ok {
				slices.SortStableFunc(items, func(a, b any) int {
					x, _ := a.(map[string]any)
					y, _ := b.(map[string]any)
					return strings.Compare(nameOf(x), nameOf(y))
				})
			}
		}
		if versions, ok := m["versions"].([]any); ok {
			for _, v := range versions {
				sorted(v)
			}
		}
	}
	return v
}

func nameOf(m map[string]any) string {
	if s, ok := m["name"].(string); ok {
		return s
	}
	s, _ := m["resource"].(string)
	return s
}

// Every recorded step whose path is not a resource's is answered like the real server did.
var resourcePath = regexp.MustCompile(`/namespaces/[^/]+/[^/]+|/(watch|proxy)$`)

func TestDiscoveryGoldens(t *testing.T) {
	d := discovery.New(registry(t, false), discovery.Options{Address: "127.0.0.1:1"})
	steps := 0
	err := filepath.WalkDir(filepath.Join(conformance, "testdata/golden"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		dir := filepath.Base(filepath.Dir(path))
		if !slices.Contains([]string{"discovery", "health", "openapi", "http"}, dir) {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var g struct {
			Steps []goldenStep `json:"steps"`
		}
		if err := json.Unmarshal(data, &g); err != nil {
			return err
		}
		for _, step := range g.Steps {
			m := stepText.FindStringSubmatch(step.Do)
			if m == nil {
				continue
			}
			target, query, _ := strings.Cut(m[2], "?")
			parameters, err := url.ParseQuery(query)
			if err != nil {
				return err
			}
			answer, ok := d.Serve(discovery.Request{Method: m[1], Path: target, Ask: render.Ask{
				Accept: first(header(step.Do, "Accept"), types.JSON), Query: parameters,
			}})
			if !ok || parameters.Has("timeout") || resourcePath.MatchString(target) {
				continue // a resource's path in any form, or an error from an earlier check
			}
			steps++
			check(t, step, m[1], answer)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if steps < 25 {
		t.Errorf("played only %d steps", steps)
	}
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func check(t *testing.T, step goldenStep, method string, answer discovery.Answer) {
	t.Helper()
	if answer.Code != step.Code {
		t.Errorf("%s: code %d, want %d", step.Do, answer.Code, step.Code)
	}
	if want := step.Headers["Content-Type"]; want != "" && answer.ContentType != want || want == "" && answer.ContentType != types.JSON && answer.ContentType != "" {
		t.Errorf("%s: content type %s, want %s", step.Do, answer.ContentType, want)
	}
	if method == http.MethodHead {
		return
	}
	var have any = string(answer.Body)
	switch {
	case strings.Contains(answer.ContentType, "protobuf"):
		have = "<binary>"
	case answer.ContentType != "text/plain; charset=utf-8" && len(answer.Body) > 0:
		if err := yaml.Unmarshal(answer.Body, &have); err != nil {
			t.Fatalf("%s: %v in %.200s", step.Do, err, answer.Body)
		}
		if p := header(step.Do, "Pick"); p != "" {
			have = pick(have, p)
		}
		if header(step.Do, "Keys") != "" {
			have = keys(have)
		}
	}
	if step.Body == nil && have == "" {
		return
	}
	if diff := cmp.Diff(step.Body, sorted(have)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", step.Do, diff)
	}
}

func get(t testing.TB, d *discovery.Server, path, accept string, into any) discovery.Answer {
	t.Helper()
	answer, ok := d.Serve(discovery.Request{Method: http.MethodGet, Path: path, Ask: render.Ask{Accept: accept}})
	if !ok || answer.Code != http.StatusOK {
		t.Fatalf("GET %s: %v %d %s", path, ok, answer.Code, answer.Body)
	}
	if into != nil {
		if err := json.Unmarshal(answer.Body, into); err != nil {
			t.Fatal(err)
		}
	}
	return answer
}

func TestBuiltinGroups(t *testing.T) {
	d := discovery.New(registry(t, true), discovery.Options{Address: "127.0.0.1:1"})
	var core metav1.APIResourceList
	get(t, d, "/api/v1", types.JSON, &core)
	names := map[string]metav1.APIResource{}
	for _, r := range core.APIResources {
		names[r.Name] = r
	}
	if p := names["pods"]; p.Kind != "Pod" || !p.Namespaced || !slices.Equal(p.ShortNames, []string{"po"}) || !slices.Contains(p.Verbs, "watch") {
		t.Errorf("pods: %+v", p)
	}
	if s := names["replicationcontrollers/scale"]; s.Kind != "Scale" || s.Group != "autoscaling" {
		t.Errorf("scale: %+v", s)
	}
	var versions metav1.APIVersions
	get(t, d, "/api", types.JSON, &versions)
	if !slices.Equal(versions.Versions, []string{"v1"}) || versions.ServerAddressByClientCIDRs[0].ServerAddress != "127.0.0.1:1" {
		t.Errorf("/api: %+v", versions)
	}
	var groups metav1.APIGroupList
	get(t, d, "/apis", types.JSON, &groups)
	found := map[string]string{}
	for _, g := range groups.Groups {
		found[g.Name] = g.PreferredVersion.Version
	}
	if found["apps"] != "v1" || found["autoscaling"] != "v2" || found["conformance.informersim.dev"] != "v1" || found[""] != "" {
		t.Errorf("/apis: %v", found)
	}
	accept := types.JSON + ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," + types.JSON
	var all apidiscoveryv2.APIGroupDiscoveryList
	a := get(t, d, "/api", accept, &all)
	if len(all.Items) != 1 || all.Items[0].Versions[0].Version != "v1" || !strings.Contains(a.ContentType, "as=APIGroupDiscoveryList") {
		t.Errorf("aggregated /api: %s %+v", a.ContentType, all)
	}
	again, _ := d.Serve(discovery.Request{Method: http.MethodGet, Path: "/api", Ask: render.Ask{Accept: accept}, IfNoneMatch: a.ETag})
	if again.Code != http.StatusNotModified || len(again.Body) > 0 {
		t.Errorf("If-None-Match: %d", again.Code)
	}
	for _, path := range []string{"/api/v1/pods", "/apis/apps/v1/deployments", "/apis/apps/v1/namespaces/x/deployments/y/scale"} {
		if _, ok := d.Serve(discovery.Request{Method: http.MethodGet, Path: path}); ok {
			t.Errorf("%s was answered, want ok = false: it may be a resource's path", path)
		}
	}
	for _, path := range []string{"/api/v2", "/apis/apps/v9", "/apis/nonsense", "/api//v1"} {
		if a, ok := d.Serve(discovery.Request{Method: http.MethodGet, Path: path}); !ok || a.Code != http.StatusNotFound || string(a.Body) != "404 page not found\n" {
			t.Errorf("%s: %v %d %s", path, ok, a.Code, a.Body)
		}
	}
}

// The documents of built-in kinds describe each property like a real server's, recorded by client-go for its own tests some
// versions ago.
func TestBuiltinDocumentsMatchRecordings(t *testing.T) {
	recorded, err := openapitest.NewEmbeddedFileClient().Paths()
	if err != nil {
		t.Fatal(err)
	}
	d := discovery.New(registry(t, true), discovery.Options{})
	compared := 0
	for _, path := range []string{"api/v1", "apis/apps/v1", "apis/batch/v1", "apis/discovery.k8s.io/v1"} {
		data, err := recorded[path].Schema(types.JSON)
		if err != nil {
			t.Fatal(err)
		}
		type document struct {
			Components struct {
				Schemas map[string]struct {
					Description string                    `json:"description"`
					Properties  map[string]map[string]any `json:"properties"`
					Required    []string                  `json:"required"`
					Kinds       []any                     `json:"x-kubernetes-group-version-kind"`
				} `json:"schemas"`
			} `json:"components"`
			Paths map[string]map[string]any `json:"paths"`
		}
		var want, have document
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		get(t, d, "/openapi/v3/"+path, types.JSON, &have)
		for name, schema := range want.Components.Schemas {
			ours, ok := have.Components.Schemas[name]
			if !ok {
				if !unknownHere[name] {
					t.Errorf("%s: schema %s is missing", path, name)
				}
				continue
			}
			for property, p := range schema.Properties {
				o, ok := ours.Properties[property]
				if !ok {
					if !unknownHere[name+"."+property] {
						t.Errorf("%s: %s has no %s", path, name, property)
					}
					continue
				}
				compared++
				for _, key := range []string{"type", "format", "$ref", "allOf", "items", "additionalProperties", "x-kubernetes-patch-strategy", "x-kubernetes-patch-merge-key"} {
					if diff := cmp.Diff(withoutDefaults(p[key]), withoutDefaults(o[key])); diff != "" && !unknownHere[name+"."+property] {
						t.Errorf("%s: %s of %s.%s (-recorded +ours):\n%s", path, key, name, property, diff)
					}
				}
			}
			for _, required := range schema.Required {
				if !slices.Contains(ours.Required, required) && !unknownHere[name+"."+required] && !optionalNow[name+"."+required] {
					t.Errorf("%s: %s.%s is not required", path, name, required)
				}
			}
		}
		for p := range want.Paths {
			if _, ok := have.Paths[p]; !ok {
				t.Errorf("%s: path %s is missing", path, p)
			}
		}
	}
	if compared < 800 {
		t.Errorf("compared only %d properties", compared)
	}
}

// unknownHere has recorded schemas and properties that no longer exist.
var unknownHere = map[string]bool{
	// changed since
	"io.k8s.api.core.v1.ClaimSource": true, "io.k8s.api.core.v1.PodResourceClaim.source": true,
	"io.k8s.api.core.v1.PersistentVolumeClaimStatus.resizeStatus": true, "io.k8s.api.core.v1.PersistentVolumeClaimSpec.resources": true,
	"io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement.key": true, "io.k8s.api.batch.v1.PodFailurePolicyRule.onPodConditions": true,
	// a reference beside a default in the recording
	"io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent.object": true,
}

// optionalNow has properties that were required when the recording was made.
var optionalNow = map[string]bool{
	"io.k8s.api.apps.v1.ControllerRevision.revision": true, "io.k8s.api.apps.v1.StatefulSetSpec.serviceName": true,
	"io.k8s.api.apps.v1.StatefulSetCondition.type": true, "io.k8s.api.apps.v1.StatefulSetCondition.status": true,
	"io.k8s.api.apps.v1.DeploymentCondition.type": true, "io.k8s.api.apps.v1.DeploymentCondition.status": true,
	"io.k8s.api.apps.v1.ReplicaSetCondition.type": true, "io.k8s.api.apps.v1.ReplicaSetCondition.status": true,
	"io.k8s.api.apps.v1.DaemonSetCondition.type": true, "io.k8s.api.apps.v1.DaemonSetCondition.status": true,
	"io.k8s.api.authentication.v1.TokenRequest.spec": true, "io.k8s.api.authentication.v1.TokenRequestSpec.audiences": true,
	"io.k8s.api.authentication.v1.TokenRequestStatus.token": true, "io.k8s.api.authentication.v1.TokenRequestStatus.expirationTimestamp": true,
	"io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern.status": true, "io.k8s.api.discovery.v1.EndpointSlice.endpoints": true,
}

func withoutDefaults(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for k, x := range m {
		if k != "default" && k != "enum" { // enums came after the recording
			out[k] = withoutDefaults(x)
		}
	}
	if all, ok := out["allOf"].([]any); ok && len(all) == 1 && len(out) == 1 {
		return all[0] // a reference beside a default
	}
	return out
}

// Protobuf documents have the content of the JSON ones.
func TestProtobufDocuments(t *testing.T) {
	d := discovery.New(registry(t, true), discovery.Options{})
	a := get(t, d, "/openapi/v3/apis/apps/v1", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf", nil)
	var v3 openapi_v3.Document
	if err := proto.Unmarshal(a.Body, &v3); err != nil || len(v3.GetPaths().GetPath()) < 10 {
		t.Errorf("v3: %v, %d paths", err, len(v3.GetPaths().GetPath()))
	}
	a = get(t, d, "/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", nil)
	var v2 openapi_v2.Document
	if err := proto.Unmarshal(a.Body, &v2); err != nil || len(v2.GetDefinitions().GetAdditionalProperties()) < 500 {
		t.Errorf("v2: %v, %d definitions", err, len(v2.GetDefinitions().GetAdditionalProperties()))
	}
	names := map[string]bool{}
	for _, def := range v2.GetDefinitions().GetAdditionalProperties() {
		names[def.GetName()] = true
	}
	for _, name := range []string{"io.k8s.api.core.v1.Pod", "dev.informersim.conformance.v1.Gizmo", "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"} {
		if !names[name] {
			t.Errorf("v2 has no %s", name)
		}
	}
}

// Two servers of the same registry return the same bytes, and a change of the registry changes the hash.
func TestDocumentsAreDeterministic(t *testing.T) {
	reg := registry(t, true)
	for _, path := range []string{"/", "/api", "/apis", "/api/v1", "/openapi/v3", "/openapi/v3/api/v1", "/openapi/v3/apis/conformance.informersim.dev/v1", "/openapi/v2"} {
		a := get(t, discovery.New(reg, discovery.Options{}), path, types.JSON, nil)
		b := get(t, discovery.New(registry(t, true), discovery.Options{}), path, types.JSON, nil)
		if !bytes.Equal(a.Body, b.Body) {
			t.Errorf("%s differs from run to run", path)
		}
	}
	d := discovery.New(reg, discovery.Options{})
	before := get(t, d, "/openapi/v3", types.JSON, nil)
	gizmos := reg.ByKind(metav1.SchemeGroupVersion.WithKind("x"))
	if gizmos != nil {
		t.Fatal("there is a kind x")
	}
	for _, r := range reg.All() {
		if r.Plural == "gizmos" {
			reg.Remove(r.GroupResource())
		}
	}
	d.Changed()
	if after := get(t, d, "/openapi/v3", types.JSON, nil); bytes.Equal(before.Body, after.Body) {
		t.Error("the index is the same after a resource was removed")
	}
}

func TestHealthThatFails(t *testing.T) {
	d := discovery.New(types.NewRegistry(), discovery.Options{})
	const hooks = "[+]poststarthook/max-in-flight-filter ok\n[+]poststarthook/storage-object-count-tracker-hook ok\n" +
		"[+]poststarthook/start-apiextensions-informers ok\n[+]poststarthook/start-apiextensions-controllers ok\n[+]poststarthook/crd-informer-synced ok\n"
	for _, c := range []struct {
		path, query string
		code        int
		body        string
	}{
		{"/readyz", "", 500, "[+]ping ok\n[+]log ok\n[-]etcd failed: reason withheld\n[-]etcd-readiness failed: the disk is full\n" + hooks + "[+]shutdown ok\nreadyz check failed\n"},
		{"/readyz", "exclude=etcd&exclude=etcd-readiness", 200, "ok"},
		{"/readyz/ping", "", 200, "ok"},
		{"/livez", "verbose&exclude=etcd", 200, "[+]ping ok\n[+]log ok\n[+]etcd excluded: ok\n[+]loopback-serving-certificate ok\n" + hooks + "livez check passed\n"},
		{"/livez/etcd", "", 500, "internal server error: etcd is not well\n"},
		{"/healthz/poststarthook/crd-informer-synced", "", 200, "ok"},
		{"/readyz/etcd-readiness", "", 500, "internal server error: the disk is full\n"},
	} {
		query := map[string][]string{}
		for _, part := range strings.Split(c.query, "&") {
			k, v, _ := strings.Cut(part, "=")
			query[k] = append(query[k], v)
		}
		a, ok := d.Serve(discovery.Request{Method: http.MethodGet, Path: c.path, Ask: render.Ask{Query: query}, Failed: map[string]string{"etcd": "", "etcd-readiness": "the disk is full"}})
		if !ok || a.Code != c.code || string(a.Body) != c.body {
			t.Errorf("%s?%s: %d %q", c.path, c.query, a.Code, a.Body)
		}
		if single := strings.Count(c.path, "/") > 1; slices.Contains(a.Headers, [2]string{"X-Content-Type-Options", "nosniff"}) == (single && c.code == http.StatusOK) {
			t.Errorf("%s?%s: %d with the headers %v", c.path, c.query, a.Code, a.Headers)
		}
	}
}
