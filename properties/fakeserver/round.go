package fakeserver

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// round is a server, its clients, and what they have asked.
type round struct {
	*sim.Stream
	driver
	cluster *fakeapiserver.Cluster
	client  *fakeapiserver.Client
	pods    store.ResourceID
	history int
	model
	asked     []*asked
	compacted int64 // the last compaction of the watch caches, too: no watch begins before
	noticed   int64 // the last that they know of: no exact list is older
	noticing  int64 // the last of the Store alone
	slow      bool  // the watch caches are held
	settled   bool  // they had caught up before what is asked now
	restarted bool  // a server was: its watch caches begin anew, some time later
}

// first is the revision of the first write.
const first = 10

// steps are how many requests and other things a round has.
const steps = 28

// Check makes the round that has the number turn, of requests to a server or of calls of something else, and returns what is wrong with an answer, "" if nothing is.
func Check(turn uint64) (wrong string) {
	defer func() {
		if p := recover(); p != nil {
			wrong = fmt.Sprint("the server panics: ", p)
			if at := subjects.Panicking(); len(at) > 0 {
				wrong += ", in " + at[0]
			}
		}
	}()
	s := sim.NewStream(turn, "beside requests")
	if s.IntN(2) == 0 { // both together would be twice as long as what rounds are meant to cost
		return requests(turn)
	}
	for n := range faultsPerRound {
		if wrong = faulty(s, turn+n); wrong != "" {
			return wrong
		}
	}
	switch s.IntN(4) {
	case 0:
		return ordered(s, turn)
	case 1:
		return stored(s, turn)
	}
	return answered(s, turn)
}

// faultsPerRound are tried one after the other: there are many kinds, and each is tried quickly.
const faultsPerRound uint64 = 4

// requests asks a server for what informers do not ask for.
func requests(turn uint64) string {
	r := &round{Stream: sim.NewStream(turn, "requests"), model: model{uids: map[string]bool{}}}
	r.kernel = sim.NewKernel(sim.Options{Seed: turn, Strategy: sim.NewRandom(turn, nil)})
	r.history = []int{2, 5, 1000}[r.IntN(3)]
	r.cluster = fakeapiserver.NewCluster(r.kernel, fakeapiserver.ClusterOptions{Replicas: 1 + r.IntN(2), FirstRevision: first, History: int64(r.history)})
	r.id = r.kernel.Register(r)
	var err error
	if r.pods, err = r.cluster.AddResource(pods); err != nil {
		return err.Error()
	}
	r.cluster.OnCommit(func(_ store.ResourceID, c store.Committed) { r.commit(c) })
	r.client = r.cluster.Connect("c", fakeapiserver.ByChoice())
	r.kernel.Clock().Freeze()
	for range steps {
		r.one()
		for range r.IntN(8) {
			if !r.kernel.Quiet() {
				r.kernel.Step()
			}
		}
	}
	return r.end()
}

// one asks for something, or does something to the server.
func (r *round) one() {
	switch n := r.IntN(16); {
	case n < 6:
		r.now(r.write)
	case n < 10:
		r.now(r.list)
	case n < 13:
		if r.settled = r.IntN(2) == 0; r.settled {
			r.rest()
		}
		r.now(r.watch)
		if a := r.asked[len(r.asked)-1]; a.revision() == 0 && !a.initial {
			r.rest() // so that it begins where it was sent
		}
	case n == 13:
		r.rest()
		r.now(r.compact)
		if r.noticing > 0 && r.IntN(2) == 0 {
			r.passes(16 * time.Second)
			r.noticed = max(r.noticed, r.noticing)
		}
	case n == 14 && r.IntN(3) == 0:
		r.hold()
	case n == 14 && r.IntN(2) == 0: // a read of what has just been written, and nothing after it
		r.now(r.write)
		r.now(r.list)
		r.rest()
		r.passes(4 * time.Second)
	case n == 14 && r.IntN(3) == 0:
		r.now(r.restore)
	case n == 14 && r.IntN(2) == 0:
		r.now(func() {
			r.restarted = true
			r.cluster.Replica(r.IntN(r.cluster.Replicas())).Restart()
			for _, a := range r.asked {
				a.shaken = true
			}
		})
	case n == 15 && r.IntN(4) == 0:
		r.wait()
	case n == 15 && r.IntN(4) == 0:
		r.expire()
	default:
		r.rest()
	}
}

// held does something while the watch caches fall behind, slow if for longer than reads wait for them.
func (r *round) held(slow bool, do func()) {
	r.now(func() {
		for n := range r.cluster.Replicas() {
			r.cluster.Replica(n).Hold()
		}
		if r.slow = slow; !slow {
			return
		}
		for _, a := range r.asked {
			a.slow = a.slow || a.answers == 0
		}
	})
	do()
	r.now(func() {
		for n := range r.cluster.Replicas() {
			r.cluster.Replica(n).Release()
		}
		r.slow = false
	})
	r.rest()
}

// wait has several reads wait for the same watch caches, which catch up in time.
func (r *round) wait() {
	r.held(false, func() {
		for range 1 + r.IntN(2) {
			r.now(r.write)
		}
		r.rest()
		for range 2 + r.IntN(2) {
			r.now(r.list)
		}
		r.rest()
	})
}

// expire has the token of a page expire, and goes on with the one that it gets for it, just after a write.
func (r *round) expire() {
	a := r.anew()
	a.options.Limit = 1
	r.now(func() { r.send(a) })
	r.rest()
	r.now(r.write)
	r.rest()
	if a.next == "" {
		return
	}
	r.now(func() { r.compactAll(r.cluster.Store().Revision()) })
	b := r.after(a)
	r.now(func() { r.send(b) })
	r.rest()
	if b.next == "" {
		return
	}
	r.held(false, func() {
		r.now(r.write)
		r.rest()
		r.now(func() { r.send(r.after(b)) })
		r.rest()
	})
}

// hold has the watch caches fall behind for longer than reads wait for them.
func (r *round) hold() {
	r.held(true, func() {
		r.now(r.write)
		r.now(r.list)
		r.rest()
		r.passes(4 * time.Second)
	})
}

// restore restores the Store to an older revision, as etcd is restored with a bump. What was asked before is not judged any more.
func (r *round) restore() {
	s := r.cluster.Store()
	rev := max(s.Compacted(), s.Revision()-int64(r.IntN(5)))
	if err := r.cluster.Restore(rev, bump); err != nil {
		r.wrong = err.Error()
		return
	}
	if s.Revision() != rev+bump {
		r.wrong = fmt.Sprintf("a restore to rv=%d with a bump of %d leaves the Store at rv=%d", rev, bump, s.Revision())
	}
	r.forget(rev)
	r.restarted, r.compacted, r.noticed, r.noticing = true, rev+bump, rev+bump, 0
	for _, a := range r.asked {
		a.void, a.next = true, ""
	}
}

// bump is by how much a restore makes the revision jump.
const bump = 100

// compact compacts the Store, with the watch caches or without.
func (r *round) compact() {
	s := r.cluster.Store()
	rev := s.Compacted() + 1 + int64(r.IntN(6))
	if rev > s.Revision() {
		return
	}
	if r.IntN(2) == 0 {
		r.compactAll(rev)
		return
	}
	if r.cluster.CompactStore(rev) == nil { // the watch caches notice it some seconds later
		r.noticing = rev
	}
}

// compactAll compacts the Store and the watch caches.
func (r *round) compactAll(rev int64) {
	if r.cluster.Compact(rev) == nil {
		r.compacted, r.noticed = rev, rev
	}
}

var (
	namespaces = []string{"a", "a-1", "a1", "b"}
	names      = []string{"x", "y", "z"}
	apps       = []string{"0", "1"}
)

// write sends a write; what it does to an object that is there, or not, and at another revision or of another uid, follows from the object.
func (r *round) write() {
	a := &asked{r: r, sent: r.cluster.Store().Revision()}
	key := namespaces[r.IntN(len(namespaces))] + "/" + names[r.IntN(len(names))]
	a.key = key
	ns, name := key[:len(key)-2], key[len(key)-1:]
	live := r.at(a.sent)[key]
	obj := &object{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: map[string]string{"app": apps[r.IntN(2)]}}}
	w := fakeapiserver.Write{Resource: r.pods, Object: obj, Verb: fakeapiserver.Create}
	switch n := r.IntN(8); {
	case live == nil && n > 0, live != nil && n == 0:
	case n < 4:
		w.Verb = fakeapiserver.Update
		if live != nil && r.IntN(2) == 0 {
			a.expects = strconv.FormatInt(live.rv-int64(r.IntN(2)), 10)
			obj.ResourceVersion = a.expects
		}
		if r.IntN(3) == 0 {
			obj.UID = "another"
		}
	default:
		w = fakeapiserver.Write{Resource: r.pods, Verb: fakeapiserver.Delete, Namespace: ns, Name: name}
		if live != nil && r.IntN(3) == 0 {
			uid := types.UID(live.uid)
			if r.IntN(2) == 0 {
				uid = "another"
			}
			a.uid = string(uid)
			w.Preconditions = &metav1.Preconditions{UID: &uid}
		}
	}
	a.verb, a.mine = w.Verb, obj
	a.id = r.client.Write(w, a)
	r.asked = append(r.asked, a)
}

// revision is one to ask for: some are older than what is kept, and some are not there yet.
func (r *round) revision() int64 {
	now := r.cluster.Store().Revision()
	switch compacted := r.cluster.Store().Compacted(); {
	case r.IntN(3) == 0:
		return now
	case compacted >= first && r.IntN(3) == 0:
		return compacted - 1 + int64(r.IntN(3))
	}
	return max(first-1, now+2-int64(r.IntN(12)))
}

// selects draws a selection.
func (r *round) selects(o *metav1.ListOptions) (s selection) {
	if r.IntN(2) == 0 {
		s.namespace = namespaces[r.IntN(len(namespaces))]
	}
	if r.IntN(3) == 0 {
		s.app = apps[r.IntN(2)]
		o.LabelSelector = "app=" + s.app
	}
	if r.IntN(6) == 0 {
		s.name = names[r.IntN(len(names))]
		o.FieldSelector = "metadata.name=" + s.name
	} else if r.IntN(8) == 0 {
		s.within = namespaces[r.IntN(len(namespaces))]
		o.FieldSelector = "metadata.namespace=" + s.within
	}
	return s
}

// list asks for a list, or goes on with one.
func (r *round) list() {
	for _, b := range r.asked {
		if b.next != "" && r.IntN(2) == 0 {
			r.send(r.after(b))
			return
		}
	}
	r.send(r.anew())
}

// anew draws a list to ask for.
func (r *round) anew() *asked {
	a := &asked{list: true}
	a.selection = r.selects(&a.options)
	a.options.Limit = int64(r.IntN(4))
	switch r.IntN(4) {
	case 0:
	case 1:
		a.options.ResourceVersion = "0"
	default:
		a.options.ResourceVersion = strconv.FormatInt(r.revision(), 10)
		a.options.ResourceVersionMatch = []metav1.ResourceVersionMatch{"", metav1.ResourceVersionMatchNotOlderThan, metav1.ResourceVersionMatchExact}[r.IntN(3)]
	}
	return a
}

// after is the page after another one.
func (r *round) after(b *asked) *asked {
	a := &asked{list: true, options: b.options, selection: b.selection, began: b, after: b.last}
	a.options.ResourceVersion, a.options.ResourceVersionMatch, a.options.Continue = "", "", b.next
	b.next = ""
	return a
}

// send asks for a list.
func (r *round) send(a *asked) {
	a.r, a.sent, a.slow, a.lost = r, r.cluster.Store().Revision(), r.slow, r.noticed
	a.id = r.client.List(r.pods, a.selection.namespace, a.options, a)
	r.asked = append(r.asked, a)
}

// watch asks for a watch.
func (r *round) watch() {
	a := &asked{r: r, sent: r.cluster.Store().Revision(), stream: true, lost: r.compacted}
	a.selection = r.selects(&a.options)
	a.options.AllowWatchBookmarks = r.IntN(2) == 0
	if r.IntN(2) == 0 {
		seconds := int64(30 + r.IntN(300))
		a.options.TimeoutSeconds = &seconds
	}
	switch r.IntN(4) {
	case 0:
		a.options.ResourceVersion = []string{"", "0"}[r.IntN(2)]
		a.initial, a.options.AllowWatchBookmarks = true, true // without, nothing says where the initial events end
	case 1:
		yes := true
		a.options.ResourceVersion, a.options.SendInitialEvents = strconv.FormatInt(r.revision(), 10), &yes
		a.options.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
		a.initial, a.options.AllowWatchBookmarks = true, true
	default:
		a.options.ResourceVersion = strconv.FormatInt(r.revision(), 10)
		if no := false; r.settled && !r.restarted && r.IntN(4) == 0 { // from now on
			a.options.ResourceVersion, a.options.SendInitialEvents, a.options.ResourceVersionMatch = "0", &no, metav1.ResourceVersionMatchNotOlderThan
		}
	}
	rev := a.revision()
	a.tooOld = r.settled && !r.restarted && !a.initial && rev > 0 && r.since(rev) > r.history
	a.id = r.client.Watch(r.pods, a.selection.namespace, a.options, a)
	r.asked = append(r.asked, a)
}

// end lets all be answered, and then time pass, and returns what was wrong.
func (r *round) end() string {
	r.rest()
	for range 6 {
		r.passes(30 * time.Second)
	}
	if err := r.kernel.Err(); err != nil {
		return err.Error()
	}
	if r.wrong != "" {
		return r.wrong
	}
	if changed := r.changed(); changed != "" {
		return changed
	}
	for _, a := range r.asked {
		if a.finish(); a.wrong != "" && !a.void {
			return fmt.Sprintf("%s: %s", a, a.wrong)
		}
	}
	return ""
}
