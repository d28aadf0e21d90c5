package fakeserver

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
)

// nodes adds a resource without namespaces, whose objects can be selected by color.
func (t *trial) nodes() (id store.ResourceID) {
	t.now(func() {
		var err error
		id, err = t.cluster.AddResource(store.Resource{
			Group: "g", Version: "v1", Plural: "nodes", Kind: "Node", New: func() runtime.Object { return &object{} },
			Field: func(obj runtime.Object, field string) (string, bool) {
				return obj.(*object).Labels["color"], field == "spec.color"
			},
		})
		t.is("AddResource", nil, err)
	})
	return id
}

// quiet has watches of a resource that does not change, however they began: their bookmarks tell of what others write, and none comes without news.
func (t *trial) quiet() []string {
	nodes := t.nodes()
	began := []string{"c ADDED a/x@10", "c ADDED a/y@11", "c ADDED b/x@12", "c BOOKMARK 12 ends"}
	of := []struct {
		from string
		o    metav1.ListOptions
		want []string
	}{
		{"12", metav1.ListOptions{AllowWatchBookmarks: true}, nil}, {"11", metav1.ListOptions{AllowWatchBookmarks: true}, []string{"c ADDED b/x@12"}},
		{"12", streams(), began}, {"", metav1.ListOptions{AllowWatchBookmarks: true}, began}, // which begins as a streaming list does
	}
	no := false
	of = append(of, of[0], of[0])
	of[4].from, of[4].o.ResourceVersionMatch, of[4].o.SendInitialEvents = "0", metav1.ResourceVersionMatchNotOlderThan, &no // from now on
	at := t.IntN(3) * 2
	var want []string
	for _, w := range of[at : at+2] {
		t.watches("c", w.from, w.o)
		t.rest()
		want = append(append(want, "c opened"), w.want...)
	}
	t.watches("d", "12", metav1.ListOptions{})
	t.passes(59 * time.Second)
	t.passes(2 * time.Second)
	t.now(func() {
		_, err := t.cluster.Create(nodes, named("/n"))
		t.is("Create", nil, err)
	})
	t.passes(58 * time.Second)
	t.passes(2 * time.Second)
	t.lists("c", "0")
	t.rest()
	return append(want, "d opened", "commit n@13 after 1m1s", "c BOOKMARK 13 after 2m0s", "c BOOKMARK 13 after 2m0s", "c list: "+all+" at 13 after 2m1s")
}

// deadlines have watches last as long as they ask for, or half an hour to an hour.
func (t *trial) deadlines() []string {
	for _, seconds := range []int64{-1, 7, 0, 1} {
		t.watches("c", "12", metav1.ListOptions{TimeoutSeconds: &seconds, AllowWatchBookmarks: seconds == 7})
	}
	t.passes(4 * time.Second)
	t.updates("a/x")
	t.passes(30*time.Minute - 5*time.Second)
	t.is("a watch without a time is open for half an hour", 1, t.clients["c"].InFlight())
	t.passes(30*time.Minute + time.Second)
	t.is("a watch without a time is open for an hour", 0, t.clients["c"].InFlight())
	last := t.heard[len(t.heard)-1]
	t.is("how the watch without a time ends", true, strings.HasPrefix(last, "c closed after "))
	heard, long := len(t.heard), int64(7200)
	for range 8 {
		t.watches("d", "13", metav1.ListOptions{})
	}
	t.passes(31 * time.Minute)
	t.is("of eight watches without a time one is open after 31 minutes", true, t.clients["d"].InFlight() > 0)
	t.passes(29*time.Minute + time.Second)
	t.watches("d", "13", metav1.ListOptions{TimeoutSeconds: &long})
	t.passes(2*time.Hour - time.Second)
	t.is("a watch of two hours is open a second before", 1, t.clients["d"].InFlight())
	t.passes(time.Second)
	t.is("a watch of two hours is open after that", 0, t.clients["d"].InFlight())
	t.heard = t.heard[:heard]
	return []string{
		"c opened", "c opened", "c opened", "c opened", "c closed", "c closed after 1s", "commit a/x@13 after 4s", "c MODIFIED a/x@13 after 4s", "c MODIFIED a/x@13 after 4s", "c BOOKMARK 13 after 5s", "c closed after 7s", last,
	}
}

// cancels gives up requests before they are served, before they are answered, and while they wait, and a watch.
func (t *trial) cancels() []string {
	c, e := t.clients["c"], &ear{t, "c", ""}
	t.now(func() {
		c.Cancel(c.List(t.pods, "", metav1.ListOptions{}, e))
		c.Cancel(c.Write(fakeapiserver.Write{Resource: t.pods, Verb: fakeapiserver.Update, Object: named("a/x")}, e))
	})
	t.rest()
	var waits, watches fakeapiserver.ReqID
	t.now(func() {
		waits = c.List(t.pods, "", metav1.ListOptions{ResourceVersion: "13"}, e)
		watches = c.Watch(t.pods, "", metav1.ListOptions{ResourceVersion: "12"}, e)
		c.List(t.pods, "a", metav1.ListOptions{}, e)
	})
	t.rest()
	t.is("requests and watches under way", 2, c.InFlight())
	t.now(func() { c.Cancel(waits); c.Cancel(watches); c.Cancel(watches); c.Cancel(99) })
	t.is("requests and watches that are left", 0, c.InFlight())
	t.updates("a/x")
	t.passes(4 * time.Second)
	return []string{"c opened", "c list: a/x@10 a/y@11 at 12", "commit a/x@13"}
}

// policies have requests served by one replica or the other, of which the second lags.
func (t *trial) policies() []string {
	t.now(t.cluster.Replica(1).Hold)
	t.updates("a/x")
	fresh, stale := "c list: a/x@13 a/y@11 b/x@12 at 13", "c list: "+all+" at 12"
	want := []string{"commit a/x@13"}
	counts := map[string]int{}
	for _, p := range []struct {
		policy fakeapiserver.Policy
		want   []string
	}{
		{fakeapiserver.RoundRobin(), []string{fresh, stale, fresh}},
		{fakeapiserver.Sticky(1), []string{stale, stale, stale}},
		{fakeapiserver.Sticky(7), []string{fresh, fresh, fresh}}, // there is none: the first
		{fakeapiserver.Sticky(0), []string{fresh, fresh, fresh}},
	} {
		t.is("the client of a name that is known", true, t.cluster.Connect("c", p.policy) == t.clients["c"] && t.cluster.Client("c") == t.clients["c"])
		for range 3 {
			t.lists("c", "0")
			t.rest()
		}
		want = append(want, p.want...)
	}
	heard := len(t.heard)
	t.cluster.Connect("c", fakeapiserver.ByChoice())
	for range 20 {
		t.lists("c", "0")
		t.rest()
	}
	for _, what := range t.heard[heard:] {
		counts[what]++
	}
	t.is("both replicas serve a client whose replica is drawn", "2 20", fmt.Sprint(len(counts), " ", counts[fresh]+counts[stale]))
	t.heard = t.heard[:heard]
	return want
}

// selectors select by labels and fields, in lists and watches, of a resource without namespaces.
func (t *trial) selectors() (want []string) {
	nodes := t.nodes()
	colors := map[string]string{"m": "red", "n": "blue", "o": "red"}
	put := func(name, color string, write func(store.ResourceID, runtime.Object) (runtime.Object, error)) {
		obj := named("/" + name)
		obj.Labels = map[string]string{"color": color, name: ""}
		t.now(func() {
			_, err := write(nodes, obj)
			t.is("a write of a node", nil, err)
		})
		t.rest()
	}
	for _, name := range []string{"m", "n", "o"} {
		put(name, colors[name], t.cluster.Create)
	}
	want = []string{"commit m@13", "commit n@14", "commit o@15"}
	for _, x := range []struct {
		o    metav1.ListOptions
		want string
	}{
		{metav1.ListOptions{FieldSelector: "spec.color=red"}, "m@13 o@15"},
		{metav1.ListOptions{FieldSelector: "spec.color!=red"}, "n@14"},
		{metav1.ListOptions{FieldSelector: "spec.color=red,metadata.name!=m"}, "o@15"},
		{metav1.ListOptions{FieldSelector: "metadata.name=n", Limit: 1}, "n@14"},
		{metav1.ListOptions{FieldSelector: "metadata.name=n", Limit: 1, ResourceVersion: "13"}, "n@14"}, // a single object is asked for by no page, so not as of a revision
		{metav1.ListOptions{LabelSelector: "color in (red, green)"}, "m@13 o@15"},
		{metav1.ListOptions{LabelSelector: "color=red,!m"}, "o@15"},
		{metav1.ListOptions{LabelSelector: "n"}, "n@14"},
		{metav1.ListOptions{LabelSelector: "color=red", FieldSelector: "metadata.name=o"}, "o@15"},
		{metav1.ListOptions{LabelSelector: " ", FieldSelector: ""}, "m@13 n@14 o@15"},
		{metav1.ListOptions{FieldSelector: "metadata.namespace=a"}, ""},
	} {
		t.now(func() { t.clients["c"].List(nodes, "", x.o, &ear{t, "c", ""}) })
		t.rest()
		if x.want == "" {
			want = append(want, "c list: 400 BadRequest")
			continue
		}
		want = append(want, "c list: "+x.want+" at 15")
		page, err := t.cluster.ListNow(nodes, "", x.o)
		names := []string{}
		if err == nil {
			for _, obj := range page.Items {
				names = append(names, short(obj))
			}
		}
		t.is("ListNow", fmt.Sprint(x.want, nil), fmt.Sprint(strings.Join(names, " "), err))
	}
	t.now(func() {
		t.clients["c"].Watch(nodes, "", metav1.ListOptions{ResourceVersion: "15", FieldSelector: "spec.color=red"}, &ear{t, "c", ""})
		t.clients["d"].Watch(nodes, "", metav1.ListOptions{ResourceVersion: "15", LabelSelector: "color=red", FieldSelector: "metadata.name!=o"}, &ear{t, "d", ""})
	})
	put("m", "blue", t.cluster.Update)
	put("n", "red", t.cluster.Update)
	put("o", "red", t.cluster.Update)
	return append(want, "c opened", "d opened", "commit m@16", "c DELETED m@16", "d DELETED m@16", "commit n@17", "c ADDED n@17", "d ADDED n@17", "commit o@18", "c MODIFIED o@18")
}

// holds holds the frames of a watch, and replicas.
func (t *trial) holds() []string {
	t.watching(1000)
	hold := func(target string, held bool) {
		t.now(func() { t.is("SetHeld", nil, t.cluster.SetHeld(target, held)) })
	}
	t.is("KeepsBack of an open watch, of one that is not there, and of a client that is not", "false true false",
		fmt.Sprint(t.cluster.KeepsBack("c", 1), t.cluster.KeepsBack("c", 9), t.cluster.KeepsBack("e", 1)))
	hold("conn/c", true)
	hold("conn/c", true)
	t.updates("a/x")
	hold("conn/c", false)
	t.is("KeepsBack of a watch that is held still", true, t.cluster.KeepsBack("c", 1))
	t.passes(time.Second)
	hold("conn/c", false)
	hold("conn/c", false)
	t.passes(time.Second)
	t.now(func() { // what the replica is about to apply waits, too
		_, err := t.cluster.Update(t.pods, named("a/y"))
		t.is("Update", nil, err)
		t.is("SetHeld", nil, t.cluster.SetHeld("replica/1", true))
		t.is("SetHeld", nil, t.cluster.SetHeld("replica/1", true))
	})
	t.rest()
	hold("replica/1", false)
	t.passes(time.Second)
	hold("replica/1", false)
	t.rest()
	hold("replica/1", false) // which nobody holds
	hold("replica/1", true)
	t.updates("b/x")
	t.passes(time.Second)
	hold("replica/1", false)
	t.rest()
	for _, unknown := range []string{"conn/e", "replica/2", "e"} {
		t.now(func() { t.is("SetHeld of "+unknown+" fails", true, t.cluster.SetHeld(unknown, true) != nil) })
	}
	return []string{"commit a/x@13", "d MODIFIED a/x@13", "c MODIFIED a/x@13 after 1s", "commit a/y@14 after 2s", "c MODIFIED a/y@14 after 2s", "d MODIFIED a/y@14 after 3s",
		"commit b/x@15 after 3s", "c MODIFIED b/x@15 after 3s", "d MODIFIED b/x@15 after 4s"}
}

// reopens defines a resource anew, and finds it by its names.
func (t *trial) reopens() []string {
	nodes := t.nodes()
	t.now(func() { t.cluster.Alias(schema.GroupResource{Group: "old", Resource: "nodes"}, nodes) })
	for _, x := range []struct {
		group, plural string
		want          string
	}{{"g", "nodes", "1 true"}, {"old", "nodes", "1 true"}, {"", "pods", "0 true"}, {"", "nodes", "0 false"}, {"g", "pods", "0 false"}} {
		id, ok := t.cluster.FindResource(schema.GroupResource{Group: x.group, Resource: x.plural})
		t.is("FindResource of "+x.plural+" of "+x.group, x.want, fmt.Sprint(id, " ", ok))
	}
	t.is("a definition of another group is refused", true, t.cluster.Store().Redefine(nodes, store.Resource{Group: "old", Version: "v1", Plural: "nodes", Kind: "Node"}) != nil)
	t.watching(1000)
	t.updates("a/x")
	t.now(func() { t.cluster.Reopen(t.pods) })
	t.rest()
	t.watches("c", "12", metav1.ListOptions{})
	t.rest()
	t.updates("a/y")
	t.lists("c", "0")
	t.rest()
	return []string{
		"commit a/x@13", "c MODIFIED a/x@13", "d MODIFIED a/x@13", "c closed", "d closed", "c opened", "c ERROR 410 Expired", "c closed", "commit a/y@14", "c list: a/x@13 a/y@14 b/x@12 at 14",
	}
}

// triggers call back in the step in which something has happened.
func (t *trial) triggers() (want []string) {
	on := func(w fault.Trigger) error {
		return t.cluster.OnTrigger(w, fault.WatchClose, "c", func() { t.hears("c is told of the %s", w.Event) })
	}
	t.is("OnTrigger of an event that is none fails", true, on(fault.Trigger{Event: "end"}) != nil)
	t.is("OnTrigger of a resource that is not there fails", true, on(fault.Trigger{Resource: "nodes"}) != nil)
	t.is("OnTrigger less than once fails", true, on(fault.Trigger{Count: -1}) != nil)
	t.watching(1000)
	for _, w := range []fault.Trigger{{Event: fault.TriggerCommit, Client: "c"}, {Event: fault.TriggerFrame, Client: "d"}, {Event: fault.TriggerRequest, Client: "conn/c"}} {
		w.Resource, w.Key, w.Count = "pods", "a/y", 2
		t.is("OnTrigger", nil, on(w))
	}
	t.is("the faults that wait", 3, len(t.cluster.Faults()))
	for range 2 {
		t.updates("a/x")
	}
	for range 2 {
		t.writes("c", "a/y")
		t.rest()
	}
	t.is("the faults that wait afterwards", 0, len(t.cluster.Faults()))
	heard := []string{}
	for _, what := range t.heard {
		if rest, ok := strings.CutPrefix(what, "c is told of the "); ok {
			heard = append(heard, rest)
		}
	}
	t.is("the order in which it is told", "[request commit frame]", fmt.Sprint(heard))
	return t.heard
}

// refusedFaults are of clients, replicas, resources and values that do not exist.
func (t *trial) refusedFaults() []string {
	for _, f := range []fault.Fault{
		{Kind: "none"}, {Kind: fault.WebhookTimeout}, {Kind: fault.List500, Target: "e"}, {Kind: fault.List500, Target: "replica/0"}, {Kind: fault.List500, Replica: "replica/2"},
		{Kind: fault.List500, Resource: "nodes"}, {Kind: fault.List500, After: &fault.Trigger{Resource: "nodes"}}, {Kind: fault.ReplicaRestart, Target: "2"}, {Kind: fault.List500, Verb: "read"},
		{Kind: fault.List500, Probability: 2}, {Kind: fault.List500, Probability: -1}, {Kind: fault.List500, From: 2, Until: 1}, {Kind: fault.List500, From: 2, Until: 2}, {Kind: fault.List500, RetryAfter: -1},
		{Kind: fault.WatchStall, Duration: -1}, {Kind: fault.Compact, Revision: -1}, {Kind: fault.Compact, Revision: 99}, {Kind: fault.Restore, Revision: 99},
		{Kind: fault.List500, After: &fault.Trigger{Event: "end"}}, {Kind: fault.List500, After: &fault.Trigger{Count: -1}}, {Kind: fault.List500, From: -1}, {Kind: fault.List500, Until: -1},
	} {
		t.now(func() { t.is(fmt.Sprintf("Inject of %+v fails", f), true, t.cluster.Inject(f) != nil) })
	}
	t.is("the faults that are ordered", 0, len(t.cluster.Faults()))
	t.lists("c", "12")
	t.rest()
	return []string{"c list: " + all + " at 12"}
}

// picks makes a kernel whose strategy picks faults.
func (t *trial) picks() *sim.Kernel {
	return sim.NewKernel(sim.Options{Seed: 1, Strategy: sim.NewRandom(uint64(t.IntN(1000)), func(sim.Kind) float64 { return 0.3 })})
}

// picked has the strategy pick faults of a kind, as many as it may, while there is something that they can hit.
func (t *trial) picked() []string {
	most := 1 + t.IntN(3)
	kinds := []fault.Kind{fault.ReplicaSkew, fault.ReplicaLag, fault.ReplicaRestart, fault.Compact, fault.RestoreBumped, fault.List500, fault.WatchClose, fault.Write500}
	kind := kinds[t.IntN(len(kinds))]
	if t.IntN(3) == 0 { // it cannot be picked while it lasts
		kind = fault.ReplicaLag
	}
	t.serves(t.picks(), fakeapiserver.ClusterOptions{MaxFaults: most})
	t.now(func() {
		t.is("EnableFaults of a kind that is none fails", true, t.cluster.EnableFaults(kind, "none") != nil)
		t.is("EnableFaults", nil, t.cluster.EnableFaults(kind))
	})
	for n := 0; n < 60 && t.cluster.FaultsLeft(); n++ {
		t.now(func() { // another object each time: one that is there may be gone after a restore
			t.clients["c"].Write(fakeapiserver.Write{Resource: t.pods, Verb: fakeapiserver.Create, Object: named(fmt.Sprint("a/n", n))}, &ear{t, "c", ""})
		})
		t.lists("c", "0")
		t.watches("d", "0", metav1.ListOptions{})
		for range 12 {
			t.kernel.Step()
		}
		for _, f := range t.cluster.Faults() {
			t.is("the fault that lasts", kind, f.Fault.Kind)
			t.is("how long a fault lasts is a matter of milliseconds", time.Duration(0), f.Fault.Duration%time.Millisecond)
			t.now(t.cluster.WithdrawFaults)
		}
	}
	t.is(fmt.Sprintf("FaultsLeft after enough that %s can hit, of %d", kind, most), false, t.cluster.FaultsLeft())
	t.now(func() { t.is("SpendFault when all are spent", false, t.cluster.SpendFault()) })
	t.now(t.cluster.StopFaults)
	t.is("the faults that last after StopFaults", 0, len(t.cluster.Faults()))
	t.stopsAll(kind)
	t.heard = nil
	t.again(fakeapiserver.ClusterOptions{})
	for range 3 {
		t.now(func() { t.is("SpendFault without a limit", true, t.cluster.SpendFault()) })
	}
	t.again(fakeapiserver.ClusterOptions{MaxFaults: most})
	for n := range 4 {
		t.now(func() { t.is(fmt.Sprintf("SpendFault number %d of %d", n+1, most), n < most, t.cluster.SpendFault()) })
	}
	return nil
}

// chances has a fault hit about half of all requests.
func (t *trial) chances() []string {
	t.injects(fault.Fault{Kind: fault.List500, Probability: 0.5, Count: fault.Lasting})
	for range 40 {
		t.lists("c", "12")
		t.rest()
	}
	hits := strings.Count(strings.Join(t.heard, ""), "500 InternalError")
	t.is("a fault with a probability of one half hits some of 40 requests, and not all", true, hits > 4 && hits < 36)
	return t.heard
}

// stopsAll has the strategy pick faults without end, until they are stopped: none happens afterwards.
func (t *trial) stopsAll(kind fault.Kind) {
	t.serves(t.picks(), fakeapiserver.ClusterOptions{Faults: []fault.Kind{kind}})
	asks := func() {
		t.writes("c", "a/x")
		t.lists("c", "0")
		for range 10 {
			t.kernel.Step()
		}
	}
	asks()
	t.now(t.cluster.StopFaults)
	before := t.kernel.Faults()
	asks()
	asks()
	t.is(fmt.Sprintf("faults of the kind %s that are picked after StopFaults", kind), before, t.kernel.Faults())
}

// stopped has the end of a fault that was stopped leave the next one alone.
func (t *trial) stopped() []string {
	t.watching(1000)
	f := fault.Fault{Kind: fault.ReplicaLag, Target: "0", Duration: 5 * time.Second}
	t.injects(f)
	t.passes(time.Second)
	t.now(t.cluster.StopFaults)
	f.Duration = 10 * time.Second
	t.injects(f)
	t.updates("a/x")
	t.passes(11 * time.Second)
	return []string{"commit a/x@13 after 1s", "d MODIFIED a/x@13 after 1s", "c MODIFIED a/x@13 after 11s"}
}
