package fakeapiserver

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/store"
)

type nullReceiver struct{ events int }

func (*nullReceiver) OnList(ReqID, *Page, error) {}

func (*nullReceiver) OnWatchOpened(ReqID) {}

func (*nullReceiver) OnWatchOpenError(ReqID, error) {}

func (r *nullReceiver) OnEvent(ReqID, Event) { r.events++ }

func (*nullReceiver) OnWatchClosed(ReqID, error) {}

func (*nullReceiver) OnWrite(ReqID, kruntime.Object, error) {}

// BenchmarkCommitApplyDeliver measures one event from commit to delivery, without creating the object.
func BenchmarkCommitApplyDeliver(b *testing.B) {
	w := newWorld(b, ClusterOptions{})
	w.create("default/a")
	r := &nullReceiver{}
	w.do(func() { w.cl.Watch(w.pods, "", metav1.ListOptions{ResourceVersion: "1001"}, r) })
	w.settle()
	// Objects are reused after the Store has dropped them, so that allocating them is not measured.
	pods := make([]corev1.Pod, 8192)
	for i := range pods {
		pods[i].Namespace, pods[i].Name = "default", "a"
	}
	i := 0
	commit := func() {
		p := &pods[i%len(pods)]
		p.ResourceVersion = ""
		if _, err := w.c.Update(w.pods, p); err != nil {
			b.Fatal(err)
		}
		if i%2048 == 0 {
			if err := w.c.CompactStore(0); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for ; i < b.N; i++ {
		w.script.run(commit)
		for !w.k.Quiet() {
			w.k.Step()
		}
	}
	b.StopTimer()
	if r.events != b.N {
		b.Fatalf("delivered %d of %d events", r.events, b.N)
	}
}

// BenchmarkPageOfMillion measures a page of 500 of 1,000,000 objects, with a history of the last 1,000 versions.
func BenchmarkPageOfMillion(b *testing.B) {
	s := store.New(store.Options{})
	id, err := s.AddResource(podResource())
	if err != nil {
		b.Fatal(err)
	}
	const million = 1_000_000
	objs := make([]metav1.PartialObjectMetadata, million)
	for i := range objs {
		objs[i].Namespace, objs[i].Name = "default", fmt.Sprintf("object-%07d", i*7919%million)
		if _, err := s.Put(id, &objs[i]); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Compact(s.Revision() - 1000); err != nil {
		b.Fatal(err)
	}
	c := &Cluster{store: s}
	p := listPlan{filter: filter{resource: s.Resource(id)}, limit: 500}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		page, err := c.storePage(id, p)
		if err != nil || *page.RemainingItemCount != million-500 {
			b.Fatal(page, err)
		}
	}
}

// BenchmarkFanOut measures one update delivered to 100 watches.
func BenchmarkFanOut(b *testing.B) {
	w := newWorld(b, ClusterOptions{})
	w.create("default/a")
	r := &nullReceiver{}
	for i := range 100 {
		cl := w.c.Connect(fmt.Sprintf("c%03d", i), Sticky(0))
		w.do(func() { cl.Watch(w.pods, "", metav1.ListOptions{ResourceVersion: "1001"}, r) })
	}
	w.settle()
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		w.update("default/a")
		w.settle()
	}
	b.StopTimer()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(r.events), "ns/event")
}
