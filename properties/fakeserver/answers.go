package fakeserver

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/sim"
)

// answers are what a quiet server says to requests of which each has one answer.
var answers = [...]struct {
	of  string
	ask func(*trial) (want []string)
}{
	{"refused writes", (*trial).refusedWrites},
	{"refused lists", (*trial).refusedLists},
	{"refused watches", (*trial).refusedWatches},
	{"a list in pages", (*trial).paged},
	{"a get", (*trial).gets},
	{"what a write keeps", (*trial).keeps},
	{"what was compacted", (*trial).compacted},
	{"a revision that is not there yet", (*trial).future},
	{"a watch cache that is not ready", (*trial).unready},
	{"bookmarks of a quiet resource", (*trial).quiet},
	{"the end of a watch", (*trial).deadlines},
	{"requests that are canceled", (*trial).cancels},
	{"policies", (*trial).policies},
	{"selectors", (*trial).selectors},
	{"what is held", (*trial).holds},
	{"a resource that is opened again", (*trial).reopens},
	{"triggers", (*trial).triggers},
	{"faults that cannot be injected", (*trial).refusedFaults},
	{"faults that are picked", (*trial).picked},
	{"faults that were stopped", (*trial).stopped},
	{"a fault that has a chance", (*trial).chances},
	{"a window that adapts", (*trial).adapts},
	{"periodic compactions", (*trial).periodic},
	{"a server without streaming lists", (*trial).withoutStreams},
	{"what cannot be sent", (*trial).unsendable},
	{"a journal that takes nothing", (*trial).journals},
	{"a restore that no replica notices", (*trial).misses},
	{"a replica that is restarted while it is held", (*trial).restartsHeld},
	{"a resource that stays as it is", (*trial).catchesUp},
	{"tokens of another list", (*trial).foreignTokens},
	{"changes that pass a watch by", (*trial).passesBy},
	{"two faults at once", (*trial).overlap},
	{"frames that are out of order when faults are stopped", (*trial).outOfOrder},
	{"a watch that ends on a dead connection", (*trial).deadEnd},
	{"a compaction of what a replica lacks", (*trial).compactsLagging},
	{"a compaction of what others wrote", (*trial).compactsQuiet},
	{"a replica that begins anew after a restore", (*trial).begunAnew},
	{"a restore to what a replica has not read", (*trial).behindRestore},
	{"requests that wait one after the other", (*trial).oneByOne},
	{"tokens that are none of this server's", (*trial).badTokens},
	{"a list that goes on at resourceVersion 0", (*trial).unlimited},
	{"a watch that is canceled before it is heard of", (*trial).gone},
	{"a compaction of what a replica has yet to read after a restore", (*trial).keptForIt},
	{"a watch that is held and blocked", (*trial).holdsBeside},
	{"two faults that wait for watches", (*trial).oneEach},
	{"a fault and an answer that is under way", (*trial).underWay},
	{"frames that faults are not about", (*trial).passedOver},
	{"a late answer over a connection that breaks", (*trial).brokenLate},
	{"events that set something off", (*trial).eventsCount},
	{"a fault that has a chance, and many requests", (*trial).counted},
	{"what faults are drawn like", (*trial).drawn},
	{"how often the leader is lost", (*trial).leaders},
	{"a request that is late, and the next one", (*trial).lateOnce},
	{"a watch that is over before it is answered", (*trial).overBefore},
	{"faults of a replica and of a name", (*trial).aimed},
	{"a bookmark that is late when faults are stopped", (*trial).lateAndStopped},
	{"a connection that breaks under the answer of a write", (*trial).writesBreak},
	{"the stalest of replicas of which one is not ready", (*trial).stalest},
	{"what belongs to versions of objects", (*trial).memos},
	{"what is late", (*trial).lateThings},
	{"watches that are left behind or blocked", (*trial).stuckWatches},
	{"faults of some of what there is", (*trial).someOfIt},
	{"revisions that are odd, or not there yet", (*trial).oddRevisions},
}

// answered asks some of that.
func answered(s *sim.Stream, turn uint64) string {
	for n := range uint64(4) {
		of := answers[s.IntN(len(answers))]
		t := newTrial(s, turn+n)
		t.compares(of.ask(t))
		if wrong := t.finding("of " + of.of); wrong != "" {
			return wrong
		}
	}
	return ""
}

// does sends a write of c and waits for its answer.
func (t *trial) does(w fakeapiserver.Write) {
	w.Resource = t.pods
	t.now(func() { t.clients["c"].Write(w, &ear{t, "c", ""}) })
	t.rest()
}

// refusal is what an error says in full.
func refusal(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return fmt.Sprint(err)
	}
	st, details := status.Status(), ""
	if d := st.Details; d != nil {
		details = d.Kind + "/" + d.Name
	}
	return fmt.Sprintf("%s %d %s %s: %s", st.Status, st.Code, st.Reason, details, st.Message)
}

func (t *trial) refusedWrites() (want []string) {
	gr := schema.GroupResource{Resource: "pods"}
	live, _ := t.cluster.Store().Get(t.pods, "a", "x")
	uid := live.(*object).UID
	another := named("a/x")
	another.ResourceVersion = "9"
	wrongUID, wrongRV := types.UID("nobody's"), "11"
	for _, x := range []struct {
		what string
		want error
		call func() error
	}{
		{"a create of what exists", apierrors.NewAlreadyExists(gr, "x"), func() error { _, err := t.cluster.Create(t.pods, named("a/x")); return err }},
		{"an update of nothing", apierrors.NewNotFound(gr, "z"), func() error { _, err := t.cluster.Update(t.pods, named("a/z")); return err }},
		{"a delete of nothing", apierrors.NewNotFound(gr, "z"), func() error { _, err := t.cluster.Delete(t.pods, "a", "z", nil); return err }},
		{"a delete of nothing in a last state", apierrors.NewNotFound(gr, "z"), func() error { _, err := t.cluster.DeleteAs(t.pods, "a", "z", named("a/z")); return err }},
		{"an update of an older revision", apierrors.NewConflict(gr, "x", errors.New("the object has been modified; please apply your changes to the latest version and try again")),
			func() error { _, err := t.cluster.Update(t.pods, another); return err }},
		{"a delete of another's uid", apierrors.NewConflict(gr, "x", fmt.Errorf("Precondition failed: UID in precondition: nobody's, UID in object meta: %s", uid)),
			func() error {
				_, err := t.cluster.Delete(t.pods, "a", "x", &metav1.Preconditions{UID: &wrongUID})
				return err
			}},
		{"a delete of another revision", apierrors.NewConflict(gr, "x", errors.New("Precondition failed: ResourceVersion in precondition: 11, ResourceVersion in object meta: 10")),
			func() error {
				_, err := t.cluster.Delete(t.pods, "a", "x", &metav1.Preconditions{ResourceVersion: &wrongRV, UID: &uid})
				return err
			}},
		{"a delete of another revision, whatever its uid", apierrors.NewConflict(gr, "x", errors.New("Precondition failed: ResourceVersion in precondition: 11, ResourceVersion in object meta: 10")),
			func() error {
				_, err := t.cluster.Delete(t.pods, "a", "x", &metav1.Preconditions{ResourceVersion: &wrongRV})
				return err
			}},
	} {
		t.now(func() { t.is(x.what, refusal(x.want), refusal(x.call())) })
	}
	t.now(func() {
		_, err := t.cluster.Update(t.pods, live)
		t.is("an update with the object itself is a bad request", true, apierrors.IsBadRequest(err))
		_, err = t.cluster.Create(t.pods, nil)
		t.is("a create of nil is a bad request", true, apierrors.IsBadRequest(err))
		_, err = t.cluster.Create(t.pods+7, named("a/q"))
		t.is("a create of a resource that is not there is a bad request", true, apierrors.IsBadRequest(err))
		_, err = t.cluster.Delete(t.pods+7, "a", "q", nil)
		t.is("a delete of a resource that is not there is a bad request", true, apierrors.IsBadRequest(err))
		_, err = t.cluster.DeleteAs(t.pods+7, "a", "q", named("a/q"))
		t.is("a delete in a last state of a resource that is not there is a bad request", true, apierrors.IsBadRequest(err))
		_, err = t.cluster.ListNow(t.pods+7, "", metav1.ListOptions{})
		t.is("ListNow of a resource that is not there is a bad request", true, apierrors.IsBadRequest(err))
	})
	t.does(fakeapiserver.Write{Verb: "erase", Object: named("a/x")})
	t.does(fakeapiserver.Write{Verb: fakeapiserver.Create, Object: named("a/")})
	t.does(fakeapiserver.Write{Verb: fakeapiserver.Create, Object: named("/z")})
	t.does(fakeapiserver.Write{Verb: fakeapiserver.Create, Object: (*object)(nil)})
	t.does(fakeapiserver.Write{Verb: fakeapiserver.Delete, Namespace: "a", Name: "x", Preconditions: &metav1.Preconditions{UID: &uid}})
	const bad = "c write: 400 BadRequest"
	return []string{bad, bad, bad, bad, "commit a/x@13", "c write: a/x@13"}
}

// refused are options, and the answer to them.
type refused struct {
	o    metav1.ListOptions
	want string
}

// refusedOptions are of lists and watches: what is malformed, and what contradicts itself.
func refusedOptions(watch bool) []refused {
	yes := true
	const bad, invalid = "400 BadRequest", "422 Invalid"
	all := []refused{
		{metav1.ListOptions{LabelSelector: "a in"}, bad},
		{metav1.ListOptions{FieldSelector: "a"}, bad},
		{metav1.ListOptions{FieldSelector: "spec.x=y"}, bad},
		{metav1.ListOptions{ResourceVersion: "12", ResourceVersionMatch: "Newest"}, invalid},
		{metav1.ListOptions{ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}, invalid},
		{metav1.ListOptions{LabelSelector: "a in", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}, bad},
		{metav1.ListOptions{FieldSelector: "spec.x=y", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}, invalid},
	}
	if watch {
		return append(all, []refused{
			{metav1.ListOptions{ResourceVersion: "12", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}, invalid},
			{metav1.ListOptions{ResourceVersion: "12", SendInitialEvents: &yes}, invalid},
			{metav1.ListOptions{ResourceVersion: "12", SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchExact}, invalid},
			{metav1.ListOptions{ResourceVersion: "new"}, "500 "},
		}...)
	}
	return append(all, []refused{
		{metav1.ListOptions{ResourceVersion: "0", ResourceVersionMatch: metav1.ResourceVersionMatchExact}, invalid},
		{metav1.ListOptions{SendInitialEvents: &yes}, invalid},
		{metav1.ListOptions{ResourceVersion: "new"}, bad},
		{metav1.ListOptions{ResourceVersion: "-1"}, bad},
		{metav1.ListOptions{Continue: "more"}, bad},
		{metav1.ListOptions{Continue: "more", ResourceVersion: "12"}, bad},
	}...)
}

func (t *trial) refusedLists() (want []string) {
	for _, x := range refusedOptions(false) {
		for range 2 { // who asks again is refused again: the server remembers what a client selected last
			t.asks("c", x.o)
			t.rest()
			want = append(want, "c list: "+x.want)
		}
		t.checks(&x.o, false, x.want)
	}
	e := &ear{t, "c", ""}
	t.now(func() { t.clients["c"].List(t.pods, "", metav1.ListOptions{Limit: 1}, e) })
	t.rest()
	t.now(func() {
		t.clients["c"].List(t.pods, "", metav1.ListOptions{Continue: e.token, ResourceVersion: "12"}, e)
	})
	t.rest()
	return append(want, "c list: a/x@10 at 12", "c list: 400 BadRequest")
}

// checks compares CheckListOptions with the answer, but for what only the request itself looks at: the revision and the token.
func (t *trial) checks(o *metav1.ListOptions, watch bool, want string) {
	if o.ResourceVersion == "new" || o.ResourceVersion == "-1" || o.Continue != "" {
		want = ""
	}
	got := ""
	if err := t.cluster.CheckListOptions(t.pods, *o, watch); err != nil {
		got = failure(err)
	}
	t.is(fmt.Sprintf("CheckListOptions of %+v", *o), want, got)
}

func (t *trial) refusedWatches() (want []string) {
	for _, x := range refusedOptions(true) {
		for range 2 {
			t.watches("c", x.o.ResourceVersion, x.o)
			t.rest()
			want = append(want, "c watch: "+x.want)
		}
		t.checks(&x.o, true, x.want)
	}
	t.checks(&metav1.ListOptions{}, true, "")
	t.is("watches and requests that are left", 0, t.clients["c"].InFlight())
	return want
}

// gets gets single objects, which a watch cache that lags answers only at a revision.
func (t *trial) gets() []string {
	get := func(name, rv string) {
		t.now(func() { t.clients["c"].Get(t.pods, "a", name, rv, "", &ear{t, "c", ""}) })
		t.rest()
	}
	get("x", "")
	get("z", "")
	t.now(t.cluster.Replica(0).Hold)
	t.updates("a/x")
	get("x", "")
	get("x", "0")
	get("x", "12")
	get("x", "13")
	t.now(t.cluster.Replica(0).Release)
	t.rest()
	t.now(t.cluster.Replica(0).Hold)
	t.updates("a/x")
	t.watches("c", "0", streams()) // which begins with what the watch cache has
	t.rest()
	t.now(t.cluster.Replica(0).Release)
	t.rest()
	return []string{
		"c list: a/x@10 at 12", "c list: at 12", "commit a/x@13", "c list: a/x@13 at 13", "c list: a/x@10 at 12", "c list: a/x@10 at 12", "c list: a/x@13 at 13",
		"commit a/x@14", "c opened", "c ADDED a/x@13", "c ADDED a/y@11", "c ADDED b/x@12", "c BOOKMARK 13 ends", "c MODIFIED a/x@14",
	}
}

// keeps updates and deletes objects: their uids and times stay.
func (t *trial) keeps() []string {
	live, _ := t.cluster.Store().Get(t.pods, "a", "x")
	was := live.(*object)
	t.passes(90 * time.Second)
	mine := named("a/x")
	mine.UID, mine.CreationTimestamp = "mine", metav1.NewTime(sim.Epoch.Add(time.Hour))
	t.does(fakeapiserver.Write{Verb: fakeapiserver.Update, Object: mine})
	live, _ = t.cluster.Store().Get(t.pods, "a", "x")
	is := live.(*object)
	t.is("the uid and the time of an object that was updated", fmt.Sprint(was.UID, was.CreationTimestamp.Unix()), fmt.Sprint(is.UID, is.CreationTimestamp.Unix()))
	t.is("the client's own object", "mine", mine.UID)
	t.does(fakeapiserver.Write{Verb: fakeapiserver.Create, Object: named("a/new")})
	live, _ = t.cluster.Store().Get(t.pods, "a", "new")
	t.is("the time of an object that is created later", was.CreationTimestamp.Unix()+90, live.(*object).CreationTimestamp.Unix())
	t.is("its uid is another", true, live.(*object).UID != is.UID && live.(*object).UID != "")
	t.watches("c", "14", metav1.ListOptions{})
	t.rest()
	final := named("a/x")
	final.Labels = map[string]string{"final": "yes"}
	t.now(func() {
		obj, err := t.cluster.DeleteAs(t.pods, "a", "x", final)
		t.is("DeleteAs", fmt.Sprint("yes", nil), fmt.Sprint(obj.(*object).Labels["final"], err))
	})
	t.rest()
	t.now(func() { t.is("SkipTo", nil, t.cluster.SkipTo(40)) })
	t.updates("a/y")
	later := " after 1m30s"
	return []string{
		"commit a/x@13" + later, "c write: a/x@13" + later, "commit a/new@14" + later, "c write: a/new@14" + later, "c opened" + later,
		"commit a/x@15" + later, "c DELETED a/x@15" + later, "commit a/y@40" + later, "c MODIFIED a/y@40" + later,
	}
}

// compacted asks for what was compacted, in the Store alone at first.
func (t *trial) compacted() []string {
	t.updates("a/x")
	exact := func(rv string) {
		t.asks("c", metav1.ListOptions{ResourceVersion: rv, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
		t.rest()
	}
	t.now(func() { t.is("CompactStore", nil, t.cluster.CompactStore(13)) })
	t.now(func() { t.is("CompactStore of what was compacted fails", true, t.cluster.CompactStore(13) != nil) })
	exact("12")
	t.passes(14 * time.Second)
	exact("12")
	t.passes(2 * time.Second)
	exact("12")
	t.watches("c", "12", metav1.ListOptions{})
	t.rest()
	t.updates("a/y")
	t.now(func() { t.is("Compact", nil, t.cluster.Compact(0)) })
	t.is("what is compacted by a compaction to nothing in particular", int64(14), t.cluster.Store().Compacted())
	t.watches("c", "13", metav1.ListOptions{})
	t.rest()
	t.is("the ERROR of a watch from a revision that was compacted", "Failure 410 Expired /: too old resource version: 13 (14)", strings.Replace(t.said, "Expired :", "Expired /:", 1))
	exact("14")
	a, b := " after 14s", " after 16s"
	return []string{
		"commit a/x@13", "c list: a/x@10 a/y@11 b/x@12 at 12", "c list: a/x@10 a/y@11 b/x@12 at 12" + a, "c list: 410 Expired" + b, "c opened" + b, "c MODIFIED a/x@13" + b,
		"commit a/y@14" + b, "c MODIFIED a/y@14" + b, "c opened" + b, "c ERROR 410 Expired" + b, "c closed" + b, "c list: a/x@13 a/y@14 b/x@12 at 14" + b,
	}
}

// future asks for a revision that comes in time, and for one that does not.
func (t *trial) future() []string {
	t.lists("c", "13")
	t.passes(2 * time.Second)
	t.updates("a/x")
	t.lists("c", "14")
	t.watches("d", "14", streams())
	t.passes(2 * time.Second)
	t.passes(2 * time.Second)
	t.is("the ERROR of a revision that does not come", "Failure 504 Timeout /: Timeout: Too large resource version: 14, current: 13", t.said)
	t.lists("c", fmt.Sprint(math.MaxInt64))
	t.passes(3 * time.Second)
	const large = ": 504 Timeout retry after 1 s too large"
	return []string{
		"commit a/x@13 after 2s", "c list: a/x@13 a/y@11 b/x@12 at 13 after 2s", "c list" + large + " after 5s", "d opened after 5s", "d ERROR" + large[1:] + " after 5s", "d closed after 5s",
		"c list" + large + " after 9s",
	}
}

// unready asks a server that was restarted while the Store has no leader.
func (t *trial) unready() []string {
	t.injects(fault.Fault{Kind: fault.LeaderLoss, Duration: time.Second})
	t.rest()
	t.is("Ready without a leader", false, t.cluster.Replica(0).Ready())
	t.nodes() // whose watch cache has nothing to wait for
	t.is("Ready without a leader, of which one of two resources is", false, t.cluster.Replica(0).Ready())
	t.is("Revision without a leader", int64(0), t.cluster.Replica(0).Revision(t.pods))
	list := func(o metav1.ListOptions) {
		t.asks("c", o)
		t.rest()
	}
	list(metav1.ListOptions{})
	list(metav1.ListOptions{Limit: 2, LabelSelector: "a=b"})
	list(metav1.ListOptions{Limit: 2})
	t.watches("c", "12", metav1.ListOptions{})
	t.passes(time.Second)
	t.is("Ready with a leader", true, t.cluster.Replica(0).Ready())
	t.is("Revision with a leader", int64(12), t.cluster.Replica(0).Revision(t.pods))
	t.is("Replica of a number that is none", true, t.cluster.Replica(2) == nil && t.cluster.Replica(-1) == nil)
	list(metav1.ListOptions{})
	const busy = ": 429 TooManyRequests retry after 1 s"
	return []string{"c list" + busy, "c list" + busy, "c list: 500 ", "c watch" + busy, "c list: " + strings.TrimSpace(all) + " at 12 after 1s"}
}

// paged lists objects in pages, of all namespaces or one, while others come and go: a page says how many are left.
func (t *trial) paged() (want []string) {
	for n := range 6 {
		key := fmt.Sprintf("a/k%d", n)
		t.now(func() {
			_, err := t.cluster.Create(t.pods, named(key))
			t.is("Create", nil, err)
		})
	}
	t.rest()
	t.heard = nil
	keys := []string{"a/k0", "a/k1", "a/k2", "a/k3", "a/k4", "a/k5", "a/x", "a/y", "b/x"}
	namespace, limit := "", 1+t.IntN(4)
	if t.IntN(2) == 0 {
		namespace, keys = "a", keys[:8]
	}
	o := metav1.ListOptions{Limit: int64(limit), ResourceVersion: []string{"", "18"}[t.IntN(2)]}
	for at := 0; at < len(keys); at += limit {
		page, err := t.cluster.ListNow(t.pods, namespace, o)
		t.is("ListNow", nil, err)
		if err != nil {
			return t.heard
		}
		end := min(at+limit, len(keys))
		left := int64(0)
		if page.RemainingItemCount != nil {
			left = *page.RemainingItemCount
		}
		t.is(fmt.Sprintf("the page of %d from %d on in %q", limit, at, namespace), fmt.Sprint(keys[at:end], len(keys)-end, end < len(keys), 18), fmt.Sprint(page.Keys, left, page.Continue != "", page.Revision))
		t.now(func() { // which that list does not show
			_, err := t.cluster.Delete(t.pods, keys[end-1][:1], keys[end-1][2:], nil)
			t.is("Delete", nil, err)
			_, err = t.cluster.Create(t.pods, named("a/z"+fmt.Sprint(at)))
			t.is("Create", nil, err)
		})
		o.Continue, o.ResourceVersion = page.Continue, ""
	}
	return t.heard
}
