package informer

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

func TestI90MutationDetectorFindsChangedObjects(t *testing.T) {
	d := &MutationDetector{Name: "pods"}
	inf := NewInformer(InformerOptions{MutationDetector: d})
	inf.Start(t0)
	a := pod("ns/a", 1)
	inf.Reflector.OnPage(objects(a, pod("ns/b", 1)), "1", "", nil)
	drainInformer(t, inf)
	if d.Len() != 2 {
		t.Fatalf("tracks %d objects, want 2", d.Len())
	}
	must(t, d.Check(t0))
	if at := d.NextCheck(); !at.Equal(t0.Add(time.Second)) {
		t.Errorf("next check at %v, want %v", at, t0.Add(time.Second))
	}
	a.Labels = map[string]string{"changed": "in place"}
	err := d.Check(t0.Add(time.Second))
	if err == nil || !strings.Contains(err.Error(), "cache pods modified: *v1.Pod ns/a") || !strings.Contains(err.Error(), "in place") {
		t.Fatalf("got %v, want an error that names the object and the change", err)
	}
}

func TestI90MutationDetectorRotates(t *testing.T) {
	d := &MutationDetector{}
	must(t, d.Check(t0))
	p := pod("a", 1)
	d.AddObject(p)
	d.AddObject(cache.DeletedFinalStateUnknown{Key: "a", Obj: p})
	d.AddObject("no object")
	must(t, d.Check(t0.Add(mutationRetainPeriod+1)))
	p.Name = "changed"
	if d.Check(t0.Add(mutationRetainPeriod+2)) == nil {
		t.Error("an object of the last two minutes is not tracked")
	}
	if err := d.Check(t0.Add(2*mutationRetainPeriod + 2)); err != nil || d.Len() != 0 {
		t.Errorf("after two rotations: %v, %d tracked", err, d.Len())
	}
}

func TestMutationDetectorSeesUpdates(t *testing.T) {
	d := &MutationDetector{}
	inf := NewInformer(InformerOptions{MutationDetector: d, Transformer: func(obj any) (any, error) { return obj, nil }})
	l, err := inf.AddHandler(&log{}, ListenerOptions{}, t0)
	must(t, err)
	must(t, inf.Queue.Add(pod("a", 1)))
	must(t, inf.Queue.Update(pod("a", 2)))
	must(t, inf.Queue.Delete(pod("a", 3)))
	inf.Start(t0)
	drainInformer(t, inf)
	if d.Len() != 2 || l.Len() != 0 {
		t.Errorf("tracks %d objects, want the added and the updated one", d.Len())
	}
	for _, w := range d.recent {
		if w.copy.(*v1.Pod) == w.object.(*v1.Pod) {
			t.Error("not a copy")
		}
	}
}
