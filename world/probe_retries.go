package world

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wellbehaved"
)

// probeTime is how long a round of failures may take: more than a backoff that has been reset.
const probeTime = 2 * time.Minute

// maxProbed bounds the objects of one client whose writes are made to fail.
const maxProbed = 3

// probed is an object that a client writes whenever it looks, or once somebody has undone its last write of it.
type probed struct{ client, resource, namespace, name string }

func (p probed) by() string { return p.client }

// key is the object's, as in records.
func (p probed) key() string {
	if p.namespace == "" {
		return p.resource + " " + p.name
	}
	return p.resource + " " + p.namespace + "/" + p.name
}

// undoing is how to undo what a client has written last of an object.
type undoing struct {
	probed
	step  uint64 // in which it was written
	path  string // of its request
	put   bool   // that was an update
	uid   types.UID
	old   any
	obj   any
	patch []byte
}

// noteWrite notes what a controller has written since its informers notified it of all that there is, although nothing had changed: what it writes
// whenever it looks can be made to fail whenever one likes.
func (b *wellBehaved) noteWrite(r *sim.Record) {
	verb, object, _ := strings.Cut(r.Detail, " ")
	if !b.watching || b.probing || b.restarting || verb != "update" && verb != "patch" || wellbehaved.Bookkeeping(r.Key) || b.role(r.Actor) != wellbehaved.Controller {
		return
	}
	object, _, _ = strings.Cut(object, " ")
	p := b.probedOf(r.Actor, r.Key, object)
	n := 0
	for _, known := range b.writes {
		if known.client == p.client {
			n++
		}
	}
	if n < maxProbed && !slices.Contains(b.writes, p) {
		b.writes = append(b.writes, p)
	}
}

func (b *wellBehaved) probedOf(client sim.ActorID, plural, object string) probed {
	namespace, name := placeOf(object)
	return probed{b.nameOf(client), strings.Clone(plural), strings.Clone(namespace), strings.Clone(name)}
}

// placeOf returns the namespace, "" for none, and the name of an object, as records have them.
func placeOf(object string) (namespace, name string) {
	if namespace, name, namespaced := strings.Cut(object, "/"); namespaced {
		return namespace, name
	}
	return "", object
}

// ofController returns what a controller has committed before it is probed, with its request, nil for somebody else's commit; by says whose object it is.
func (b *wellBehaved) ofController(r *sim.Record) (m metav1.Object, q *wellbehaved.Request, by func() probed) {
	m, is := r.Obj.(metav1.Object)
	cl, n := b.w.cluster.Serving()
	if !is || cl == nil || b.probing || wellbehaved.Bookkeeping(r.Key) || b.role(cl.Actor()) != wellbehaved.Controller {
		return nil, nil, nil
	}
	return m, b.sent[sentBy{cl.Actor(), int64(n)}], func() probed {
		plural, object, _ := strings.Cut(r.Key, " ")
		return b.probedOf(cl.Actor(), plural, object)
	}
}

// noteChange notes what a controller has changed of an object: one that compares first what there is writes nothing when it looks, but will if that is undone.
func (b *wellBehaved) noteChange(r *sim.Record) {
	m, q, by := b.ofController(r)
	if q == nil || r.Detail != "MODIFIED" || q.Method != http.MethodPut && q.Method != http.MethodPatch {
		return
	}
	u := undoing{probed: by(), step: r.Step, uid: m.GetUID(), old: r.Old, obj: r.Obj}
	u.path, _, _ = strings.Cut(q.Path, "?")
	u.put = q.Method == http.MethodPut
	if b.undos == nil {
		b.undos = map[probed]undoing{}
	}
	b.undos[u.probed] = u
}

// alone returns one of the writes that controllers can be probed with, in half of the seeds, each seed another one: who gives up one write may look again because of another. Otherwise it returns all.
func alone[T any](b *wellBehaved, all []T) []T {
	if b.w.config.probe == 0 || len(all) == 0 {
		return all
	}
	i := (b.w.config.probe - 1) % len(all)
	return all[i : i+1]
}

// undoable returns what can be undone, some of the last changes of each client: of those that write something whenever they look, or of those that do not. Where one of them is picked, it is the last of
// each kind.
func (b *wellBehaved) undoable(writes bool) (all []undoing) {
	latest := slices.SortedFunc(maps.Values(b.undos), func(x, y undoing) int {
		return cmp.Or(cmp.Compare(y.step, x.step), strings.Compare(x.client, y.client), strings.Compare(x.resource+" "+x.namespace+"/"+x.name, y.resource+" "+y.namespace+"/"+y.name))
	})
	// One of each kind of write comes first: whoever tries one again may give up another.
	nth := map[string]int{}
	of := map[probed]int{}
	for _, u := range latest {
		of[u.probed] = nth[u.kind()]
		nth[u.kind()]++
	}
	slices.SortStableFunc(latest, func(x, y undoing) int { return cmp.Compare(of[x.probed], of[y.probed]) })
	times := map[string]int{}
	for _, u := range latest {
		among, limit := u.client, maxProbed
		if b.w.config.probe > 0 {
			among, limit = u.kind(), 1
		}
		if times[among] == limit || slices.ContainsFunc(b.writes, func(p probed) bool { return p.client == u.client }) != writes {
			continue
		}
		if _, is := b.find(u); !is {
			continue
		}
		if u.patch = u.back(); u.patch != nil {
			times[among]++
			all = append(all, u)
		}
	}
	return all
}

// find returns the object if it is still the one that was written, and stays.
func (b *wellBehaved) find(u undoing) (any, bool) {
	m := b.object(u.probed)
	return m, m != nil && m.GetUID() == u.uid && m.GetDeletionTimestamp() == nil
}

// isUndone reports whether a change that was undone still is.
func (b *wellBehaved) isUndone(u undoing) bool {
	obj, is := b.find(u)
	if !is {
		return false
	}
	now := asJSON(obj)
	after, err := jsonpatch.MergePatch(now, u.patch)
	return err == nil && jsonpatch.Equal(now, after)
}

// kind is what changes have in common that a controller makes in the same way.
func (u undoing) kind() string {
	return u.client + " " + u.resource + " " + strconv.FormatBool(u.ofStatus())
}

// ofStatus reports whether it was the subresource that was written.
func (u undoing) ofStatus() bool { return strings.HasSuffix(u.path, "/"+u.name+"/status") }

// back returns a merge patch that undoes the change, nil if there is nothing to undo but what others rely on, or the server writes.
func (u undoing) back() []byte {
	now, old := asJSON(u.obj), asJSON(u.old)
	patch, err := jsonpatch.CreateMergePatch(now, old)
	if err != nil {
		return nil
	}
	var fields map[string]any
	if json.Unmarshal(patch, &fields) != nil {
		return nil
	}
	status := u.ofStatus()
	for name := range fields { // order: each by itself
		if (name == "status") != status || !status && !strings.HasSuffix(u.path, "/"+u.name) {
			delete(fields, name)
		}
	}
	if meta, is := fields["metadata"].(map[string]any); is {
		for name := range meta { // order: each by itself
			if name != "labels" && name != "annotations" {
				delete(meta, name)
			}
		}
		if len(meta) == 0 {
			delete(fields, "metadata")
		}
	}
	if len(fields) == 0 {
		return nil
	}
	if patch, err = json.Marshal(fields); err != nil {
		return nil
	}
	return patch
}

func asJSON(obj any) []byte {
	if u, is := obj.(runtime.Unstructured); is {
		obj = u.UnstructuredContent()
	}
	data, err := json.Marshal(obj)
	if err != nil {
		return []byte("{}")
	}
	return data
}

// undo undoes a change, as somebody would who has not heard of the controller. The API may refuse it.
func (b *wellBehaved) undo(u undoing) {
	b.serve(http.MethodPatch, u.path, "application/merge-patch+json", u.patch)
}

// serve has the API serve a request of somebody outside.
func (b *wellBehaved) serve(method, path, contentType string, body []byte) {
	b.w.api.Serve(&rest.Request{
		Method: method, URL: &url.URL{Path: path}, Header: http.Header{"Content-Type": {contentType}, "Accept": {"application/json"}}, Body: body, Client: workloadClient,
	}, &sink{})
}

// probe has controllers start while a list is late, look while reads fail, and write once more, several times, while the first attempts fail; the probes after these do things to their objects.
func (b *wellBehaved) probe() {
	if !slices.ContainsFunc(b.awaiting(probeLists, probeHits), b.asked) {
		return
	}
	b.lateStarts()
	b.blindness()
	undos := b.undoable(false)
	if len(b.writes)+len(undos)+len(b.made)+len(b.holds)+len(b.discards) == 0 {
		return
	}
	b.conclude(probeRetries)
	if !slices.ContainsFunc(b.awaiting(probeRetries, probeHits), b.asked) {
		return
	}
	b.probing = true
	b.findTriers()
	if targets := alone(b, slices.Concat(b.writes, probedBy(undos))); len(targets) > 0 {
		first := slices.DeleteFunc(slices.Clone(undos), func(u undoing) bool { return !slices.Contains(targets, u.probed) })
		for range wellbehaved.ProbeRounds {
			if b.over() {
				return
			}
			b.failing(targets, fault.Fault{Count: wellbehaved.ProbeFailures})
			if len(b.writes) > 0 {
				b.inject(b.endOfWatches(""))
			}
			b.undoSoon(first)
			b.w.goOn(probeTime)
			b.fade()
		}
	}
	abandoned := b.asked(wellbehaved.NameAbandoned)
	if abandoned {
		b.outage(undos)
		b.conflicts(undos)
	}
	b.notes()
	made := b.deletable()
	if abandoned {
		b.outageOfCreates(made)
		b.outageOfFinalizers()
		b.outageOfDeletes()
	}
	b.deletions(made)
	b.ends()
	b.deleteRevived()
	b.effects()
	b.replacements()
	b.oldLists()
	b.depose()
}

// fade lets backoffs end that go by how long ago the last failure was, in a run that is made once more: only who is told of no success still puts off the next retry longer than the one before.
func (b *wellBehaved) fade() {
	if b.w.config.later > 0 {
		b.w.goOn(b.rest())
	}
}

// over reports whether the run has failed.
func (b *wellBehaved) over() bool { return b.w.monitor.Violation() != nil || b.w.kernel.Err() != nil }

// probedBy returns what is undone.
func probedBy(undos []undoing) (targets []probed) {
	for _, u := range undos {
		targets = append(targets, u.probed)
	}
	return targets
}

// failing has writes of objects fail, for as long as a fault says.
func (b *wellBehaved) failing(targets []probed, f fault.Fault) {
	for _, p := range targets {
		f.Kind, f.Target, f.Resource, f.Namespace, f.Name, f.From = cmp.Or(f.Kind, fault.Write500), p.client, p.resource, p.namespace, p.name, b.w.kernel.Elapsed()+time.Millisecond
		if err := b.w.cluster.Inject(f); err != nil {
			b.w.kernel.Fail(err)
			return
		}
	}
}

// undoSoon undoes changes once writes fail.
func (b *wellBehaved) undoSoon(undos []undoing) {
	for _, u := range undos {
		b.w.kernel.Clock().AfterFunc(2*time.Millisecond, func() { b.undo(u) })
	}
}

// outage undoes changes while all writes of their objects fail, for longer than a few tries take, for the property NoAbandonedWrite.
func (b *wellBehaved) outage(undos []undoing) {
	outages(b, append(undos, b.undoable(true)...), func(u undoing) {
		b.failing([]probed{u.probed}, b.lasting())
		b.undoSoon([]undoing{u})
	}, b.isUndone)
}

// conflicts undoes changes once more, in a run whose mix has that somebody else writes just before, while that happens to all updates of their objects.
func (b *wellBehaved) conflicts(undos []undoing) {
	if b.w.config.mix.Rates[string(fault.WriteOvertaken)] == 0 {
		return
	}
	undos = slices.DeleteFunc(append(slices.Clone(undos), b.undoable(true)...), func(u undoing) bool { return !u.put })
	outages(b, undos, func(u undoing) {
		f := b.lasting()
		f.Kind = fault.WriteOvertaken
		b.failing([]probed{u.probed}, f)
		b.undoSoon([]undoing{u})
	}, b.isUndone)
}

// outages probes one object of each client at a time: whoever tries one again, as it should, may do with it what it has given up of another. Controllers look again at what is left of a probe.
func outages[T interface{ by() string }](b *wellBehaved, all []T, probe func(T), left func(T) bool) {
	for _, round := range oneOfEach(alone(b, all)) {
		if b.over() {
			return
		}
		b.w.stopFaults() // of two failures, who does not try again has met one
		for _, x := range round {
			probe(x)
		}
		b.w.goOn(probeTime)
		b.lookAgain(func() bool { return slices.ContainsFunc(round, left) })
	}
}

// oneOfEach returns all in rounds, each of which has one of each client at most.
func oneOfEach[T interface{ by() string }](all []T) (rounds [][]T) {
	times := map[string]int{}
	for _, x := range all {
		n := times[x.by()]
		if times[x.by()]++; n == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[n] = append(rounds[n], x)
	}
	return rounds
}

// lasting is a fault that lasts as long as an outage.
func (b *wellBehaved) lasting() fault.Fault {
	return fault.Fault{Count: fault.Lasting, Until: b.w.kernel.Elapsed() + wellbehaved.Outage}
}

// lookAgain has controllers look again at everything, once whatever was put off has been done, if something is left. Many leave out what has not changed, by its generation for instance, whatever their informers
// list: if it is still left then, they are restarted, too.
func (b *wellBehaved) lookAgain(left func() bool) {
	if b.over() || !left() {
		return
	}
	b.w.stopFaults()
	b.w.goOn(b.rest())
	b.anew = true
	b.listAnew()
	if !b.over() && left() && b.w.config.restarts && b.crashable() {
		b.restartAll()
	}
	b.anew = false
}
