package store

import (
	"fmt"
	"runtime"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const million = 1_000_000

// smallObjects returns objects in shuffled order of names.
func smallObjects(n int) []metav1.PartialObjectMetadata {
	objs := make([]metav1.PartialObjectMetadata, n)
	for i := range objs {
		j := i * 7919 % n
		objs[i].Namespace, objs[i].Name = "default", fmt.Sprintf("object-%07d", j)
	}
	return objs
}

// BenchmarkMillionCreates measures the cost of a create while the Store grows to 1,000,000 objects, and the memory for each.
func BenchmarkMillionCreates(b *testing.B) {
	for range b.N {
		b.StopTimer()
		objs := smallObjects(million)
		s := New(Options{})
		id, err := s.AddResource(podResource())
		if err != nil {
			b.Fatal(err)
		}
		before := heap()
		b.StartTimer()
		for i := range objs {
			if _, err := s.Put(id, &objs[i]); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		b.ReportMetric(float64(heap()-before)/million, "B/object")
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/million, "ns/commit")
		runtime.KeepAlive(s)
		runtime.KeepAlive(objs)
	}
}

// BenchmarkUpdateAmongMillion measures an update in a Store of 1,000,000 objects.
func BenchmarkUpdateAmongMillion(b *testing.B) {
	s := New(Options{})
	id, err := s.AddResource(podResource())
	if err != nil {
		b.Fatal(err)
	}
	objs := smallObjects(million)
	for i := range objs {
		if _, err := s.Put(id, &objs[i]); err != nil {
			b.Fatal(err)
		}
	}
	next := make([]metav1.PartialObjectMetadata, b.N)
	for i := range next {
		next[i].Namespace, next[i].Name = "default", objs[i*104729%million].Name
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if _, err := s.Put(id, &next[i]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkListOldRevision reads the first 500 of 1,000,000 objects as they were before each of them changed.
func BenchmarkListOldRevision(b *testing.B) {
	s := New(Options{})
	id, err := s.AddResource(podResource())
	if err != nil {
		b.Fatal(err)
	}
	for range 2 {
		objs := smallObjects(million)
		for i := range objs {
			if _, err := s.Put(id, &objs[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		n := 0
		s.timelines[id].Walk(DefaultFirstRevision+million/2, "", "", func(*Version) bool { n++; return n < 500 })
		if n != 500 {
			b.Fatal(n)
		}
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
