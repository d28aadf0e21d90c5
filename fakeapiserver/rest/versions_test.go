package rest_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver"
	fakerest "github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/fakeapiserver/types/crd"
	"github.com/informersim/informersim/sim"
)

// gears are stored in v1, listed second; v2 has a default at its root.
const gears = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gears.example.dev}
spec:
  group: example.dev
  scope: Namespaced
  names: {plural: gears, singular: gear, kind: Gear, listKind: GearList}
  versions:
  - name: v2
    served: true
    storage: false
    deprecated: true
    selectableFields: [{jsonPath: .spec.teeth}]
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, default: {teeth: 8}, properties: {teeth: {type: integer}}}}}}
  - name: v1
    served: V1SERVED
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {teeth: {type: integer}}}}}}
`

// New objects and the cluster's own bookmarks are in the storage version, served or not; a client sees the version that it asks
// for.
func TestStorageVersion(t *testing.T) {
	for _, served := range []string{"true", "false"} {
		t.Run("v1 served "+served, func(t *testing.T) {
			definitions, err := crd.LoadManifests(strings.NewReader(strings.ReplaceAll(gears, "V1SERVED", served)))
			if err != nil {
				t.Fatal(err)
			}
			resources, err := crd.Compile(definitions...)
			if err != nil {
				t.Fatal(err)
			}
			reg := types.NewRegistry()
			if err := reg.Add(resources...); err != nil {
				t.Fatal(err)
			}
			k := sim.NewKernel(sim.Options{Seed: 1, Strategy: sim.NewFIFO()})
			cluster := fakeapiserver.NewCluster(k, fakeapiserver.ClusterOptions{})
			api, err := fakerest.New(fakerest.Options{Cluster: cluster, Types: reg})
			if err != nil {
				t.Fatal(err)
			}
			id, ok := cluster.FindResource(schema.GroupResource{Group: "example.dev", Resource: "gears"})
			if !ok {
				t.Fatal("the resource is not in the Store")
			}
			if got := cluster.Store().Resource(id).New().GetObjectKind().GroupVersionKind().Version; got != "v1" {
				t.Errorf("new objects have version %s, want the storage version v1", got)
			}
			pump := transport.NewPump(k, func(err error) { t.Error(err) })
			defer pump.Stop()
			rt := &transport.RoundTripper{Driver: pump, API: api}
			for _, version := range []string{"v1", "v2"} {
				if version == "v1" && served == "false" {
					continue
				}
				selector := "/apis/example.dev/" + version + "/gears?fieldSelector=spec.teeth%3D8"
				if got, want := status(t, rt, selector), map[string]int{"v1": 400, "v2": 200}[version]; got != want {
					t.Errorf("GET %s: %d, want %d: only v2 can be selected by that field", selector, got, want)
				}
				if got, want := endOfInitialEvents(t, rt, version), "example.dev/"+version; got["apiVersion"] != want || got["spec"] != nil {
					t.Errorf("the bookmark of a watch of %s is %v", version, got)
				}
			}
		})
	}
}

// endOfInitialEvents returns the object of the bookmark that ends the initial events of an empty watch.
func endOfInitialEvents(t *testing.T, rt http.RoundTripper, version string) map[string]any {
	t.Helper()
	u := &url.URL{Scheme: "http", Host: "sim", Path: "/apis/example.dev/" + version + "/gears",
		RawQuery: "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"}
	resp, err := rt.RoundTrip(&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(resp.Body)
		t.Fatalf("%s: %s", resp.Status, body)
	}
	if warned := resp.Header.Get("Warning") != ""; warned != (version == "v2") {
		t.Errorf("a watch of %s has the warnings %q", version, resp.Header.Values("Warning"))
	}
	line, err := bufio.NewReader(resp.Body).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var event struct {
		Type   string
		Object map[string]any
	}
	if err := json.Unmarshal(line, &event); err != nil || event.Type != "BOOKMARK" {
		t.Fatalf("the first event is %s (%v)", line, err)
	}
	return event.Object
}

// status returns the status code of a GET.
func status(t *testing.T, rt http.RoundTripper, target string) int {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, "http://sim"+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := rt.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}
