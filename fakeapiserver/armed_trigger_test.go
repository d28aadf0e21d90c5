package fakeapiserver

import (
	"slices"
	"testing"

	"github.com/informersim/informersim/fakeapiserver/fault"
)

// A trigger that names a client counts the commits of that client's requests, before they are answered, and no others.
func TestTriggerByTheCommitOfAClient(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	other := w.c.Connect("b", Sticky(0))
	var fired []int64
	r := &receiver{}
	w.do(func() {
		err := w.c.OnTrigger(fault.Trigger{Event: fault.TriggerCommit, Client: "b", Resource: "pods", Count: 2}, "crash", "b", func() {
			fired = append(fired, w.c.Store().Revision())
			if r.writes != 1 {
				t.Errorf("at the second commit %d writes are answered", r.writes)
			}
		})
		if err != nil {
			t.Error(err)
		}
		if all := w.c.Faults(); len(all) != 1 || all[0].State != FaultTriggered || all[0].Left != 2 || all[0].Fault.Kind != "crash" || all[0].Fault.Target != "b" {
			t.Errorf("what is to come is %+v", all)
		}
	})
	write := func(cl *Client, to *receiver, key string) {
		w.do(func() { cl.Write(Write{Verb: Create, Resource: w.pods, Object: pod(key)}, to) })
		w.settle()
	}
	w.create("default/nobodys")
	write(w.cl, &receiver{}, "default/of-a")
	write(w.cl, &receiver{}, "default/of-a-2")
	write(other, r, "default/of-b")
	write(other, r, "default/of-b") // is refused
	r.writes = 1
	if len(fired) != 0 {
		t.Fatalf("it fired at %v", fired)
	}
	write(other, r, "default/of-b-2")
	write(other, r, "default/of-b-3")
	if want := []int64{1005}; !slices.Equal(fired, want) {
		t.Errorf("it fired at %v, want %v", fired, want)
	}
	for _, bad := range []fault.Trigger{{Event: "commmit"}, {Count: -1}, {Resource: "unicorns"}} {
		if err := w.c.OnTrigger(bad, "crash", "b", func() {}); err == nil {
			t.Errorf("OnTrigger(%+v) succeeds", bad)
		}
	}
}
