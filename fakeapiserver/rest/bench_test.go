package rest_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/informersim/informersim/fakeapiserver"
	fakerest "github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/sim"
)

// benchServer is a fake apiserver in real time, called in process.
type benchServer struct {
	b  *testing.B
	rt *transport.RoundTripper
}

func newBenchServer(b *testing.B, edit ...func(*fakerest.Options)) *benchServer {
	b.Helper()
	k := sim.NewKernel(sim.Options{Seed: 1, Strategy: sim.NewFIFO()})
	cluster := fakeapiserver.NewCluster(k, fakeapiserver.ClusterOptions{})
	o := fakerest.Options{Cluster: cluster, Types: registry(b, true)}
	for _, e := range edit {
		e(&o)
	}
	api, err := fakerest.New(o)
	if err != nil {
		b.Fatal(err)
	}
	pump := transport.NewPump(k, func(err error) { b.Error(err) })
	b.Cleanup(pump.Stop)
	return &benchServer{b, &transport.RoundTripper{Driver: pump, API: api}}
}

// send makes a request and fails on an error answer; the caller reads the body.
func (s *benchServer) send(method, path, contentType, accept, body string) *http.Response {
	r, err := http.NewRequest(method, "http://sim"+path, strings.NewReader(body))
	if err != nil {
		s.b.Error(err)
		return nil
	}
	r.Header.Set("Accept", accept)
	r.Header.Set("Content-Type", contentType)
	resp, err := s.rt.RoundTrip(r)
	if err != nil || resp.StatusCode/100 != 2 {
		s.b.Errorf("%s %s: %v %+v", method, path, err, resp)
		return nil
	}
	return resp
}

// drain reads and discards an answer.
func (s *benchServer) drain(resp *http.Response) (n int64) {
	if resp == nil {
		s.b.FailNow()
	}
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil {
		s.b.Fatal(err)
	}
	resp.Body.Close()
	return n
}

// benchResource is a collection under benchmark, and how to write one of its objects.
type benchResource struct {
	name, path, accept string
	object             func(i int) string
	patch              func(i int) string
}

func benchResources() []benchResource {
	gizmo := benchResource{
		"gizmos", "/apis/conformance.informersim.dev/v1/namespaces/bench/gizmos", "application/json",
		func(i int) string {
			return fmt.Sprintf(`{"apiVersion":"conformance.informersim.dev/v1","kind":"Gizmo","metadata":{"name":"o-%06d","labels":{"app":"x"}},"spec":{"color":"red","size":%d}}`, i, i%1000)
		},
		func(i int) string { return fmt.Sprintf(`{"spec":{"size":%d}}`, i%1000) },
	}
	pod := benchResource{
		"pods", "/api/v1/namespaces/bench/pods", "application/json",
		func(i int) string {
			return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"o-%06d","labels":{"app":"x"}},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i:%d"}]}}`, i, i)
		},
		func(i int) string { return fmt.Sprintf(`{"metadata":{"labels":{"n":"%d"}}}`, i) },
	}
	proto := pod
	proto.name, proto.accept = "pods-protobuf", "application/vnd.kubernetes.protobuf"
	return []benchResource{gizmo, pod, proto}
}

func (s *benchServer) fill(r benchResource, n int) {
	for i := range n {
		s.drain(s.send(http.MethodPost, r.path, "application/json", r.accept, r.object(i)))
	}
}

func eachResource(b *testing.B, f func(b *testing.B, s *benchServer, r benchResource)) {
	for _, r := range benchResources() {
		b.Run(r.name, func(b *testing.B) { f(b, newBenchServer(b), r) })
	}
}

// BenchmarkCreate measures a create in process, from request to answer.
func BenchmarkCreate(b *testing.B) {
	eachResource(b, func(b *testing.B, s *benchServer, r benchResource) {
		s.fill(r, 1)
		b.ReportAllocs()
		b.ResetTimer()
		for i := range b.N {
			s.drain(s.send(http.MethodPost, r.path, "application/json", r.accept, r.object(i+1)))
		}
	})
}

// BenchmarkPatch measures a merge patch of one object.
func BenchmarkPatch(b *testing.B) {
	eachResource(b, func(b *testing.B, s *benchServer, r benchResource) {
		s.fill(r, 1)
		b.ReportAllocs()
		b.ResetTimer()
		for i := range b.N {
			s.drain(s.send(http.MethodPatch, r.path+"/o-000000", "application/merge-patch+json", r.accept, r.patch(i)))
		}
	})
}

// BenchmarkList lists 10,000 objects whole, and in pages of 500, each page counted as one operation.
func BenchmarkList(b *testing.B) {
	eachResource(b, func(b *testing.B, s *benchServer, r benchResource) {
		s.fill(r, 10_000)
		for name, query := range map[string]string{"whole": "", "page": "?limit=500"} { // order: each is measured on its own
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				for range b.N {
					b.SetBytes(s.drain(s.send(http.MethodGet, r.path+query, "", r.accept, "")))
				}
			})
		}
	})
}

// BenchmarkFanOut measures one update seen by many watches, until all have read it.
func BenchmarkFanOut(b *testing.B) {
	for _, r := range benchResources() {
		for _, watchers := range []int{1, 100, 1000} {
			b.Run(fmt.Sprintf("%s/watchers=%d", r.name, watchers), func(b *testing.B) { newBenchServer(b).fanOut(r, watchers) })
		}
	}
}

func (s *benchServer) fanOut(r benchResource, watchers int) {
	b := s.b
	s.fill(r, 1)
	var reading sync.WaitGroup
	for range watchers {
		resp := s.send(http.MethodGet, r.path+"?watch=true", "", r.accept, "")
		reading.Add(1)
		go func() {
			defer reading.Done()
			defer resp.Body.Close()
			if err := readFrames(resp.Body, b.N+1); err != nil { // the first frame is the initial object
				b.Error(err)
			}
		}()
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		s.drain(s.send(http.MethodPatch, r.path+"/o-000000", "application/merge-patch+json", r.accept, r.patch(i+1)))
	}
	reading.Wait()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*watchers), "ns/event")
}

// readFrames reads a watch until it has seen the object's name want times; each frame has it once.
func readFrames(from io.Reader, want int) error {
	marker := []byte("o-000000")
	buf := make([]byte, 64<<10)
	left := 0 // bytes carried over: the name may straddle two reads
	for seen := 0; seen < want; {
		n, err := from.Read(buf[left:])
		if err != nil {
			return err
		}
		data := buf[:left+n]
		seen += bytes.Count(data, marker)
		left = copy(buf, data[max(0, len(data)-len(marker)+1):])
	}
	return nil
}
