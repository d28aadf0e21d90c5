package fakeserver

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// memoEar holds the memos of what it hears against the objects that they are of: the layer above sends what a memo holds, whatever the object is.
type memoEar struct {
	*ear
	of map[*store.Memo]runtime.Object // of a last state, the object that came first
}

func (e memoEar) comes(m *store.Memo, obj runtime.Object) {
	if m == nil {
		return
	}
	if _, known := e.of[m]; !known {
		e.of[m] = obj
	}
	e.t.is("whether the memo beside "+short(obj)+" is of another object", false, e.of[m] != obj)
}

// OnEvent implements fakeapiserver.Receiver.
func (e memoEar) OnEvent(id fakeapiserver.ReqID, v fakeapiserver.Event) {
	e.t.is("whether an event of a watch without selectors comes without a memo", false, e.client == "d" && v.Memo == nil)
	e.comes(v.Memo, v.Object)
	e.ear.OnEvent(id, v)
}

// OnList implements fakeapiserver.Receiver.
func (e memoEar) OnList(id fakeapiserver.ReqID, p *fakeapiserver.Page, err error) {
	if err == nil {
		e.t.is("how many memos come with a list", len(p.Items), len(p.Memos))
		for n, m := range p.Memos {
			e.comes(m, p.Items[n])
		}
	}
	e.ear.OnList(id, p, err)
}

// memos has lists and watches of a Store that keeps memos, of which one is left by an object.
func (t *trial) memos() []string {
	nodes := t.nodes()
	s, of := t.cluster.Store(), map[*store.Memo]runtime.Object{}
	t.now(s.KeepMemos)
	t.cluster.OnCommit(func(id store.ResourceID, c store.Committed) {
		if m := s.MemoOf(id, "", c.Key, c.Object); m != nil {
			of[m] = c.Object
		}
	})
	t.now(func() {
		t.clients["c"].Watch(nodes, "", metav1.ListOptions{ResourceVersion: "12", FieldSelector: "spec.color=red"}, memoEar{&ear{t, "c", ""}, of})
		t.clients["d"].Watch(nodes, "", metav1.ListOptions{ResourceVersion: "12"}, memoEar{&ear{t, "d", ""}, of})
	})
	t.rest()
	write := t.cluster.Create
	for _, color := range []string{"red", "blue", "red"} {
		obj := named("/m")
		obj.Labels = map[string]string{"color": color}
		t.now(func() {
			_, err := write(nodes, obj)
			t.is("a write of a node", nil, err)
		})
		t.rest()
		write = t.cluster.Update
	}
	for _, selector := range []string{"", "spec.color=blue"} {
		t.now(func() {
			t.clients["c"].List(nodes, "", metav1.ListOptions{ResourceVersion: "0", FieldSelector: selector}, memoEar{&ear{t, "c", ""}, of})
		})
		t.rest()
	}
	t.now(func() {
		_, err := t.cluster.Delete(nodes, "", "m", nil)
		t.is("a delete of a node", nil, err)
	})
	t.rest()
	return []string{
		"c opened", "d opened", "commit m@13", "c ADDED m@13", "d ADDED m@13", "commit m@14", "c DELETED m@14", "d MODIFIED m@14",
		"commit m@15", "c ADDED m@15", "d MODIFIED m@15", "c list: m@15 at 15", "c list: at 15", "commit m@16", "c DELETED m@16", "d DELETED m@16",
	}
}
