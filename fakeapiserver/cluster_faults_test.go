package fakeapiserver

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// The effect of each fault of an open watch, as its client sees it.
func TestStreamFaults(t *testing.T) {
	tests := []struct {
		fault  fault.Fault
		after  time.Duration
		events string
		closed bool
		err    error
	}{
		{fault.Fault{Kind: fault.WatchClose}, 0, "", true, nil},
		{fault.Fault{Kind: fault.WatchEOF}, 0, "", true, io.ErrUnexpectedEOF},
		{fault.Fault{Kind: fault.WatchReset}, 0, "", true, syscall.ECONNRESET},
		{fault.Fault{Kind: fault.Watch410}, 0, "410 Expired", true, nil},
		{fault.Fault{Kind: fault.Watch500}, 0, "500 InternalError", true, nil},
		{fault.Fault{Kind: fault.WatchHalfOpen}, 44 * time.Second, "", false, nil},
		{fault.Fault{Kind: fault.WatchHalfOpen}, 45 * time.Second, "", true, ErrConnectionLost},
		{fault.Fault{Kind: fault.WatchStall}, 3 * time.Hour, "", false, nil}, // even past the deadline
		{fault.Fault{Kind: fault.WatchStall, Duration: time.Minute}, time.Minute, "ADDED", false, nil},
		{fault.Fault{Kind: fault.WatchDelay, Duration: time.Minute}, 59 * time.Second, "", false, nil},
		{fault.Fault{Kind: fault.WatchDelay, Duration: time.Minute}, time.Minute, "ADDED", false, nil},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.fault.Kind, " after ", tt.after), func(t *testing.T) {
			w := newWorld(t, ClusterOptions{})
			r := w.watch(metav1.ListOptions{ResourceVersion: "1000"})
			w.must(func() error { return w.c.Inject(tt.fault) })
			w.create("default/a")
			w.settle()
			w.advance(tt.after)
			var seen []string
			for _, e := range r.events {
				if st, ok := e.Object.(*metav1.Status); ok {
					seen = append(seen, fmt.Sprint(st.Code, " ", st.Reason))
					continue
				}
				seen = append(seen, string(e.Type))
			}
			if got := strings.Join(seen, ","); got != tt.events {
				t.Errorf("the client saw %q, want %q", got, tt.events)
			}
			if r.closed != tt.closed || (tt.err == nil) != (r.closeErr == nil) || !errors.Is(r.closeErr, tt.err) {
				t.Errorf("closed %v with %v, want %v with %v", r.closed, r.closeErr, tt.closed, tt.err)
			}
		})
	}
}

// A stalled server that recovers after the deadline ends the watch then.
func TestStallPastDeadline(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	r := w.watch(metav1.ListOptions{ResourceVersion: "1000", TimeoutSeconds: ptr[int64](10)})
	w.must(func() error { return w.c.Inject(fault.Fault{Kind: fault.WatchStall, Duration: time.Minute}) })
	w.advance(59 * time.Second)
	if r.closed {
		t.Fatal("a stalled watch was ended")
	}
	w.advance(time.Second)
	if !r.closed || r.closeErr != nil {
		t.Errorf("closed %v, %v", r.closed, r.closeErr)
	}
}

// The effect of each fault of a request, as its client sees it, and whether a write was committed.
func TestRequestFaults(t *testing.T) {
	status := func(is func(error) bool, retry int) func(error) string {
		return func(err error) string {
			if !is(err) {
				return "wrong kind of error"
			}
			if got, _ := apierrors.SuggestsClientDelay(err); got != retry {
				return fmt.Sprintf("Retry-After is %d, want %d", got, retry)
			}
			return ""
		}
	}
	broken := func(want error) func(error) string {
		return func(err error) string {
			if !errors.Is(err, want) {
				return "want " + want.Error()
			}
			return ""
		}
	}
	lists := map[fault.Kind]func(error) string{
		fault.List410: status(apierrors.IsResourceExpired, 0), fault.List429: status(apierrors.IsTooManyRequests, 1),
		fault.List500: status(apierrors.IsInternalError, 0), fault.List503: status(apierrors.IsServiceUnavailable, 0),
		fault.List504: status(apierrors.IsTimeout, 0), fault.ListLost: broken(io.ErrUnexpectedEOF), fault.ListReset: broken(syscall.ECONNRESET),
	}
	opens := map[fault.Kind]func(error) string{
		fault.WatchOpen429: status(apierrors.IsTooManyRequests, 1), fault.WatchOpen500: status(apierrors.IsInternalError, 0),
		fault.WatchOpen503: status(apierrors.IsServiceUnavailable, 0), fault.WatchOpen504: status(apierrors.IsTimeout, 0),
		fault.WatchOpenRefused: broken(syscall.ECONNREFUSED),
	}
	writes := map[fault.Kind]func(error) string{
		fault.Write429: status(apierrors.IsTooManyRequests, 1), fault.Write500: status(apierrors.IsInternalError, 0),
		fault.Write503: status(apierrors.IsServiceUnavailable, 0), fault.Write504: status(apierrors.IsTimeout, 0),
		fault.WriteLost: broken(io.ErrUnexpectedEOF), fault.WriteReset: broken(syscall.ECONNRESET),
	}
	for _, armed := range []bool{true, false} { // the fault waits for the request, or hits it in flight
		hit := func(w *world, kind fault.Kind, ask func()) {
			fault := func() {
				if err := w.c.Inject(fault.Fault{Kind: kind}); err != nil {
					t.Error(err)
				}
			}
			if armed {
				fault, ask = ask, fault
			}
			w.do(ask)
			w.do(fault)
			w.settle()
		}
		for kind, wrong := range lists {
			w := newWorld(t, ClusterOptions{})
			w.create("default/a")
			w.settle()
			r := &receiver{}
			hit(w, kind, func() { w.cl.List(w.pods, "", metav1.ListOptions{ResourceVersion: "1001"}, r) })
			if why := wrong(r.err); r.lists != 1 || why != "" {
				t.Errorf("%s, armed %v: %v: %s", kind, armed, r.err, why)
			}
			if _, err := w.list("", metav1.ListOptions{ResourceVersion: "1001"}); err != nil {
				t.Errorf("%s hit a second list: %v", kind, err)
			}
		}
		for kind, wrong := range opens {
			w := newWorld(t, ClusterOptions{})
			r := &receiver{}
			hit(w, kind, func() { w.cl.Watch(w.pods, "", metav1.ListOptions{ResourceVersion: "1000"}, r) })
			if why := wrong(r.openErr); why != "" {
				t.Errorf("%s, armed %v: %v: %s", kind, armed, r.openErr, why)
			}
		}
		for kind, wrong := range writes {
			w := newWorld(t, ClusterOptions{})
			r := &receiver{}
			hit(w, kind, func() { w.cl.Write(Write{Verb: Create, Resource: w.pods, Object: pod("default/a")}, r) })
			if why := wrong(r.writeErr); why != "" {
				t.Errorf("%s, armed %v: %v: %s", kind, armed, r.writeErr, why)
			}
			if made := w.c.Store().Revision() == 1001; made != (kind == fault.WriteLost) {
				t.Errorf("%s, armed %v: committed %v", kind, armed, made)
			}
		}
	}
}

// A 410 hits only lists that can be too old: those with a revision, or with a continue token, which is replaced by a new one.
func TestList410WhereItCan(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	for i := range 3 {
		w.create(fmt.Sprintf("default/%d", i))
	}
	w.must(func() error { return w.c.Inject(fault.Fault{Kind: fault.List410}) })
	for _, rv := range []string{"", "0"} {
		if _, err := w.list("", metav1.ListOptions{ResourceVersion: rv}); err != nil {
			t.Errorf("rv %q: %v", rv, err)
		}
	}
	page, err := w.list("", metav1.ListOptions{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.list("", metav1.ListOptions{Limit: 1, Continue: page.Continue})
	if !apierrors.IsResourceExpired(err) {
		t.Fatalf("continue: %v", err)
	}
	next := err.(apierrors.APIStatus).Status().ListMeta.Continue
	if page, err := w.list("", metav1.ListOptions{Limit: 1, Continue: next}); err != nil || page.Keys[0] != "default/1" {
		t.Errorf("the token of the 410: %+v, %v", page, err)
	}
}

// RetryAfter is rounded up to whole seconds.
func TestRetryAfter(t *testing.T) {
	for _, kind := range []fault.Kind{fault.List429, fault.List500, fault.List503, fault.List504} {
		w := newWorld(t, ClusterOptions{})
		w.must(func() error { return w.c.Inject(fault.Fault{Kind: kind, RetryAfter: 1500 * time.Millisecond}) })
		_, err := w.list("", metav1.ListOptions{})
		if s, ok := apierrors.SuggestsClientDelay(err); kind != fault.List500 && (!ok || s != 2) {
			t.Errorf("%s: Retry-After is %d in %v", kind, s, err)
		}
		var st apierrors.APIStatus
		if !errors.As(err, &st) || st.Status().Details == nil || st.Status().Details.RetryAfterSeconds != 2 {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// list-stale: the list is served by the replica that lags most, if that can answer it.
func TestListStale(t *testing.T) {
	w := newWorld(t, ClusterOptions{Replicas: 3})
	w.create("default/a")
	w.settle()
	w.do(func() { w.c.Replica(2).Hold() })
	w.create("default/b")
	w.settle()
	w.must(func() error { return w.c.Inject(fault.Fault{Kind: fault.ListStale}) })
	for _, o := range []metav1.ListOptions{{}, {ResourceVersion: "1002"}} { // the stale replica cannot answer these
		if page, err := w.list("", o); err != nil || len(page.Items) != 2 {
			t.Errorf("%+v: %+v, %v", o, page, err)
		}
	}
	if page, err := w.list("", metav1.ListOptions{ResourceVersion: "1001"}); err != nil || page.ResourceVersion != "1001" {
		t.Errorf("the stale list: %+v, %v", page, err)
	}
	if page, err := w.list("", metav1.ListOptions{ResourceVersion: "0"}); err != nil || page.ResourceVersion != "1002" {
		t.Errorf("the list after it: %+v, %v", page, err)
	}
}

// list-stale with a revision: the list is that of then, and a watch from there tells of what has come since.
func TestListStaleAsOf(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.create("default/a")
	w.create("default/b")
	w.settle()
	inject := func() {
		w.must(func() error { return w.c.Inject(fault.Fault{Kind: fault.ListStale, Revision: 1001}) })
	}
	inject()
	for _, o := range []metav1.ListOptions{{}, {ResourceVersion: "1002"}, {ResourceVersion: "1001"}} { // a client that names a revision has seen it
		if page, err := w.list("", o); err != nil || page.ResourceVersion != "1002" {
			t.Errorf("%+v: %+v, %v", o, page, err)
		}
	}
	if page, err := w.list("", metav1.ListOptions{ResourceVersion: "0"}); err != nil || page.ResourceVersion != "1001" || len(page.Items) != 1 {
		t.Errorf("the stale list: %+v, %v", page, err)
	}
	if page, err := w.list("", metav1.ListOptions{ResourceVersion: "0"}); err != nil || page.ResourceVersion != "1002" {
		t.Errorf("the list after it: %+v, %v", page, err)
	}
}

// Count, Target and Resource select the victims.
func TestFaultScope(t *testing.T) {
	w := newWorld(t, ClusterOptions{Replicas: 2})
	b := w.c.Connect("b", Sticky(1))
	open := func(cl *Client, res store.ResourceID) *receiver {
		r := &receiver{}
		w.do(func() { r.id = cl.Watch(res, "", metav1.ListOptions{}, r) })
		w.settle()
		return r
	}
	aPods, aNodes, bPods, bNodes := open(w.cl, w.pods), open(w.cl, w.nodes), open(b, w.pods), open(b, w.nodes)
	inject := func(f fault.Fault) {
		w.must(func() error { return w.c.Inject(f) })
		w.settle()
	}
	inject(fault.Fault{Kind: fault.WatchClose, Target: "b", Resource: "nodes"})
	if !bNodes.closed || aPods.closed || aNodes.closed || bPods.closed {
		t.Error("nodes of b: the wrong watch was closed")
	}
	inject(fault.Fault{Kind: fault.WatchClose, Resource: "nodes", Count: -1})
	if !aNodes.closed || aPods.closed || bPods.closed {
		t.Error("all nodes: the wrong watches were closed")
	}
	inject(fault.Fault{Kind: fault.WatchEOF, Count: 3})
	if !aPods.closed || !bPods.closed {
		t.Error("a count of three: not all watches were closed")
	}
	if r := open(w.cl, w.pods); !r.closed || r.closeErr != io.ErrUnexpectedEOF {
		t.Error("the third fault did not wait for the next watch")
	}
	if r := open(w.cl, w.pods); r.closed {
		t.Error("a fourth watch was hit")
	}
	inject(fault.Fault{Kind: fault.ReplicaRestart, Target: "replica/1"})
	if r := open(b, w.pods); !r.opened || r.closed {
		t.Error("replica/1 does not recover from the restart")
	}
	w.do(func() {
		for _, bad := range []fault.Fault{
			{Kind: "watch-eov"}, {Kind: fault.WatchEOF, Target: "nobody"}, {Kind: fault.WatchEOF, Resource: "unicorns"},
			{Kind: fault.ReplicaLag, Target: "replica/9"}, {Kind: fault.Compact, Revision: 1}, {Kind: fault.Compact, Revision: 1 << 40}, {},
		} {
			if err := w.c.Inject(bad); err == nil {
				t.Errorf("Inject(%+v) succeeds", bad)
			}
		}
	})
}

// replica-lag: the replica applies nothing for a while. StopFaults ends that, and all armed and stalling faults.
func TestLagAndStopFaults(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	r := w.watch(metav1.ListOptions{ResourceVersion: "1000"})
	w.must(func() error { return w.c.Inject(fault.Fault{Kind: fault.ReplicaLag, Duration: time.Minute}) })
	w.create("default/a")
	w.advance(59 * time.Second)
	wantEvents(t, r)
	w.advance(time.Second)
	wantEvents(t, r, "ADDED default/a@1001")
	w.must(func() error { return w.c.Inject(fault.Fault{Kind: fault.ReplicaLag}) })
	w.must(func() error { return w.c.Inject(fault.Fault{Kind: fault.WatchStall}) })
	w.must(func() error { return w.c.Inject(fault.Fault{Kind: fault.List500, Count: 5}) })
	w.create("default/b")
	w.do(w.c.StopFaults)
	w.settle()
	wantEvents(t, r, "ADDED default/a@1001", "ADDED default/b@1002")
	if _, err := w.list("", metav1.ListOptions{}); err != nil {
		t.Errorf("an armed fault outlived StopFaults: %v", err)
	}
}

// simpleClient lists and watches without any optimization, and tracks the state that it has seen.
type simpleClient struct {
	nullReceiver
	w     *world
	cl    *Client
	state map[string]int64
	fresh bool
}

func (f *simpleClient) list() {
	rv := "0"
	if f.fresh {
		rv = ""
	}
	f.cl.List(f.w.pods, "", metav1.ListOptions{ResourceVersion: rv}, f)
}
func (f *simpleClient) later() { f.w.k.Clock().AfterFunc(time.Second, f.list) }
func (f *simpleClient) OnList(_ ReqID, p *Page, err error) {
	if err != nil {
		f.later()
		return
	}
	f.state = map[string]int64{}
	for i, key := range p.Keys {
		f.state[key] = mustRev(p.Items[i])
	}
	f.cl.Watch(f.w.pods, "", metav1.ListOptions{ResourceVersion: p.ResourceVersion, AllowWatchBookmarks: true}, f)
}
func (f *simpleClient) OnWatchOpenError(ReqID, error)    { f.later() }
func (f *simpleClient) OnWatchClosed(_ ReqID, err error) { f.fresh = true; f.later() }
func (f *simpleClient) OnEvent(_ ReqID, e Event) {
	switch e.Type {
	case watch.Added, watch.Modified:
		f.state[e.Key] = e.Rev
	case watch.Deleted:
		delete(f.state, e.Key)
	}
}

func mustRev(obj kobject) int64 {
	m, _ := store.Meta(obj)
	rev, err := store.ParseRevision(m.GetResourceVersion())
	if err != nil {
		panic(err)
	}
	return rev
}

// Under every mix and many seeds a simple client converges once the faults stop, and the same seed gives the same hash.
func TestFaultChoicesConverge(t *testing.T) {
	run := func(seed uint64, mix fault.Mix) (hash, faults uint64, kinds map[string]int) {
		mix = mix.Draw(seed)
		strategy := sim.NewRandom(seed, mix.Rate)
		k := sim.NewKernel(sim.Options{Seed: seed, Strategy: strategy})
		w := &world{t: t, k: k, script: newScript(k)}
		w.c = NewCluster(k, ClusterOptions{Replicas: 2, History: 20, Faults: mix.Kinds(), MaxFaults: mix.Max})
		kinds = map[string]int{}
		k.Observe(&faultCounter{kinds})
		var err error
		if w.pods, err = w.c.AddResource(podResource()); err != nil {
			t.Fatal(err)
		}
		clients := []*simpleClient{
			{w: w, cl: w.c.Connect("a", Sticky(0))},
			{w: w, cl: w.c.Connect("b", ByChoice())},
		}
		step := func(f func()) { // scheduled by the strategy, so possibly late
			done := false
			w.script.do = func() { f(); done = true }
			k.Offer(w.script.id, kindScript, 0)
			for !done && k.Step() {
			}
		}
		for _, f := range clients {
			step(f.list)
		}
		work := sim.NewStream(seed, "work")
		for range 60 {
			key := fmt.Sprint("default/", work.IntN(6))
			step(func() {
				if _, err := w.c.Create(w.pods, pod(key)); err != nil {
					if work.IntN(2) == 0 {
						_, err = w.c.Delete(w.pods, "default", key[len("default/"):], nil)
					} else {
						_, err = w.c.Update(w.pods, pod(key))
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
			for range work.IntN(20) {
				k.Step()
			}
		}
		strategy.StopFaults()
		step(w.c.StopFaults)
		k.Clock().LimitTo(5 * time.Minute)
		for k.Step() {
		}
		if err := k.Err(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		want := map[string]int64{}
		if err := w.c.Store().Walk(w.pods, w.c.Store().Revision(), "", func(key string, obj kobject) bool {
			want[key] = mustRev(obj)
			return true
		}); err != nil {
			t.Fatal(err)
		}
		for _, f := range clients {
			if fmt.Sprint(f.state) != fmt.Sprint(want) {
				t.Errorf("seed %d, mix %s: %s has %v, the Store %v", seed, mix.Name, f.cl.Name(), f.state, want)
			}
		}
		return k.Hash(), k.Faults(), kinds
	}
	total := map[string]int{}
	for _, mix := range fault.Mixes() {
		sum := uint64(0)
		for seed := range uint64(40) {
			hash, faults, kinds := run(seed, mix)
			sum += faults
			for k, n := range kinds {
				total[k] += n
			}
			if seed%8 == 0 {
				if again, _, _ := run(seed, mix); again != hash {
					t.Errorf("seed %d, mix %s: two runs have hashes %x and %x", seed, mix.Name, hash, again)
				}
			}
		}
		if (mix.Name == "none") != (sum == 0) {
			t.Errorf("mix %s: %d faults", mix.Name, sum)
		}
	}
	for _, spec := range fault.Specs() {
		kind := spec.Kind
		if spec.Tier != fault.Everyday || strings.HasPrefix(string(kind), "write-") || kind == fault.List410 { // no client here writes or lists at a revision
			continue
		}
		if total[string(kind)] == 0 {
			t.Errorf("fault %s never happened", kind)
		}
	}
}

type faultCounter struct{ kinds map[string]int }

func (f *faultCounter) Record(r *sim.Record) {
	if r.Kind == KindFault {
		f.kinds[r.Detail]++
	}
}
func (*faultCounter) StepEnd(*sim.StepInfo) {}

// MaxFaults bounds the faults that are chosen.
func TestMaxFaults(t *testing.T) {
	k := sim.NewKernel(sim.Options{Seed: 1, Strategy: sim.NewRandom(1, func(sim.Kind) float64 { return 0.5 })})
	c := NewCluster(k, ClusterOptions{Faults: []fault.Kind{fault.ReplicaLag, fault.ReplicaRestart}, MaxFaults: 3})
	if _, err := c.AddResource(podResource()); err != nil {
		t.Fatal(err)
	}
	k.Clock().LimitTo(time.Hour)
	for i := 0; i < 10_000 && k.Step(); i++ {
	}
	if k.Faults() != 3 {
		t.Errorf("%d faults, want 3", k.Faults())
	}
}
