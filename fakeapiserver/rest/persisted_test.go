package rest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver"
	fakerest "github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/fakeapiserver/types/crd"
	"github.com/informersim/informersim/sim"
)

// gearServer serves gears, one request after the other.
type gearServer struct {
	t       *testing.T
	cluster *fakeapiserver.Cluster
	gears   store.ResourceID
	pump    *transport.Pump
	rt      http.RoundTripper
}

func newGearServer(t *testing.T) *gearServer {
	t.Helper()
	definitions, err := crd.LoadManifests(strings.NewReader(strings.ReplaceAll(gears, "V1SERVED", "true")))
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
	s := &gearServer{t: t, cluster: fakeapiserver.NewCluster(k, fakeapiserver.ClusterOptions{})}
	api, err := fakerest.New(fakerest.Options{Cluster: s.cluster, Types: reg})
	if err != nil {
		t.Fatal(err)
	}
	s.gears, _ = s.cluster.FindResource(schema.GroupResource{Group: "example.dev", Resource: "gears"})
	s.pump = transport.NewPump(k, func(err error) { t.Error(err) })
	t.Cleanup(s.pump.Stop)
	s.rt = &transport.RoundTripper{Driver: s.pump, API: api}
	return s
}

// send makes a request for the gear "a" and returns the object in the answer.
func (s *gearServer) send(method, contentType, body string) *unstructured.Unstructured {
	s.t.Helper()
	r, err := http.NewRequest(method, "http://sim/apis/example.dev/v1/namespaces/default/gears/a?fieldManager=m", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	resp, err := s.rt.RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %s, %s, %v", method, body, resp.Status, data, err)
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(data, &u.Object); err != nil {
		s.t.Fatal(err)
	}
	return u
}

// applyEmptyMap leaves an empty map in the stored bytes that no reader sees.
func (s *gearServer) applyEmptyMap() *unstructured.Unstructured {
	s.t.Helper()
	return s.send(http.MethodPatch, "application/apply-patch+yaml",
		`{"apiVersion":"example.dev/v1","kind":"Gear","metadata":{"name":"a","annotations":{}},"spec":{"teeth":3}}`)
}

// put sends back an object as it was read and reports whether that was a write.
func (s *gearServer) put(u *unstructured.Unstructured) (after *unstructured.Unstructured, written bool) {
	s.t.Helper()
	before := s.cluster.Store().Revision()
	data, err := json.Marshal(u.Object)
	if err != nil {
		s.t.Fatal(err)
	}
	after = s.send(http.MethodPut, "application/json", string(data))
	return after, s.cluster.Store().Revision() != before
}

// restore puts the Store back without a revision bump.
func (s *gearServer) restore(rev int64) {
	s.t.Helper()
	done := make(chan error, 1)
	s.pump.Do(func() { done <- s.cluster.Restore(rev, 0) })
	if err := <-done; err != nil {
		s.t.Fatal(err)
	}
}

// A restored version comes back with its persisted form (S4): a PUT of what was read drops the empty map, before and after.
func TestRestoreBringsBackPersistedForm(t *testing.T) {
	s := newGearServer(t)
	applied := s.applyEmptyMap()
	rev := s.cluster.Store().Revision()
	plain, written := s.put(applied)
	if !written {
		t.Fatal("a PUT that drops an empty map from the store's bytes is a no-op")
	}
	if _, written := s.put(plain); written {
		t.Fatal("a second PUT of the same object is a write")
	}
	s.restore(rev)
	if _, written := s.put(applied); !written {
		t.Error("after the restore, a PUT that drops the empty map is a no-op: the server forgot the bytes of the restored version")
	}
}

// A restore frees a revision that other bytes then take.
func TestRestoreForgetsPersistedForm(t *testing.T) {
	s := newGearServer(t)
	first := s.send(http.MethodPatch, "application/apply-patch+yaml",
		`{"apiVersion":"example.dev/v1","kind":"Gear","metadata":{"name":"a"},"spec":{"teeth":2}}`)
	rev := s.cluster.Store().Revision()
	applied := s.applyEmptyMap()
	s.restore(rev)
	first.SetResourceVersion("")
	done := make(chan error, 1)
	s.pump.Do(func() { // a write that bypasses the REST layer, like a controller's
		_, err := s.cluster.Update(s.gears, first)
		done <- err
	})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	live, _ := s.cluster.Store().Get(s.gears, "default", "a")
	if got := live.(*unstructured.Unstructured); got.GetResourceVersion() != applied.GetResourceVersion() {
		t.Fatalf("the write after the restore has revision %s, want %s again", got.GetResourceVersion(), applied.GetResourceVersion())
	}
	if _, written := s.put(live.(*unstructured.Unstructured)); written {
		t.Error("a PUT of what is stored is a write: the server compares with the version that the restore undid")
	}
}
