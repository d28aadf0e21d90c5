package world

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/controllers/names"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wellbehaved"
	"github.com/informersim/informersim/world/wire"
)

// After the body, a run with ready-made properties goes on: without faults, for restTime until everything that was put off has been done
// (client-go's workqueues put off a retry by 1000 s at most), and then for watchTime, in which the controllers are watched. Then each of their writes
// takes writeTime: more than a second, the unit of the times in most objects.
const (
	restTime  = 20 * time.Minute
	watchTime = 10 * time.Minute
	writeTime = 1100 * time.Millisecond
)

// wellBehaved tells the ready-made properties of controllers what they need to know of a run.
type wellBehaved struct {
	w          *world
	names      []string
	sending    *request // that is being sent; nil for none
	sent       map[sentBy]*wellbehaved.Request
	answered   []sentBy             // in the current step
	calm       time.Duration        // when the body had ended and the faults stopped
	after      bool                 // that has come
	struck     []reports.FaultCount // until then
	errors     []wellbehaved.Logged // that were logged from then on
	watched    time.Duration
	watching   bool
	behind     map[sim.ActorID]bool // the clients that did not know of everything then
	writes     []probed             // of the time in which the controllers are watched
	undos      map[probed]undoing   // the last change of each object by each controller
	made       []making             // what controllers have created
	theirs     []belonging          // what the test has
	holds      []holding            // the finalizers that they have added or removed
	discards   []*discard           // what they have deleted
	revived    []types.UID          // what NoRevival has to see deleted once more
	hits       []hit                // what NoBlindDelete has to see made once more
	suspects   func(property.World) []types.UID
	deletes    []string    // the resources of which the test has deleted something
	deleted    []string    // what the run has, after the body
	candidates []string    // who asks for Leases
	unwanted   []types.UID // what NoStaleCreate has to see deleted, one at a time
	keepers    []keeper
	users      []belonging // what is to be deleted, since it may use what is left
	waiting    []string    // which properties wait for that
	listings   []listing   // what controllers list
	late       listing     // that one of them is told of late
	old        listing     // that one of them gets as of before an object was made
	outdated   wellbehaved.Outdated
	trials     wellbehaved.Trials
	trial      wellbehaved.Trial // under way
	triers     []trier
	reads      []listing // what controllers get
	blinded    listing   // of that, what fails now
	looked     bool      // it, or what is late, has been asked for since
	anyway     []wellbehaved.Writing
	says       func() bool // whether a status tells of what has failed then
	acts       int         // how often controllers have changed something
	probing    bool
	anew       bool // controllers' informers have listed anew since writes were made to fail

	restarted          int  // how often the controllers were restarted since they were watched
	restarting         bool // they just were
	rewrote            bool // somebody has written something since
	doubted, confirmed bool // NoForgottenChange wants the informers to list anew once more, and they have
}

// sentBy is a request by its client and its number.
type sentBy struct {
	client sim.ActorID
	n      int64
}

// newWellBehaved returns nil if a test asks for no ready-made property.
func newWellBehaved(w *world) *wellBehaved {
	if len(w.o.ready) == 0 {
		return nil
	}
	b := &wellBehaved{w: w, sent: map[sentBy]*wellbehaved.Request{}, behind: map[sim.ActorID]bool{}}
	w.kernel.Observe(b)
	return b
}

// properties returns the ready-made properties that the test asks for.
func (b *wellBehaved) properties() []property.Property {
	if b == nil {
		return nil
	}
	o := wellbehaved.Options{
		Role: b.role, Runs: b.runs, Restarts: KindProcess, Collected: b.w.o.runs(names.GarbageCollector), Except: map[string][]wellbehaved.Exception{},
		Collects: func(client sim.ActorID) bool {
			return client != 0 && b.w.o.runs(names.GarbageCollector) && b.nameOf(client) == collectorClient
		},
		Sent:       func(client sim.ActorID, n int64) *wellbehaved.Request { return b.sent[sentBy{client, n}] },
		Observed:   func() (time.Duration, bool) { return b.watched, b.watching },
		Behind:     func(client sim.ActorID) bool { return b.behind[client] },
		Calm:       func() (time.Duration, bool) { return b.calm, b.after },
		Errors:     func() []wellbehaved.Logged { return b.errors },
		Only:       b.only,
		Dead:       func(why string) bool { return strings.Contains(why, wire.Crashed.Error()) },
		Probing:    func() bool { return b.probing },
		ListsAnew:  func() bool { return b.anew },
		Late:       func() (client, resource string) { return b.late.client, b.late.resource },
		Outdated:   func() wellbehaved.Outdated { return b.outdated },
		Blinded:    func() (client, resource string) { return b.blinded.client, b.blinded.resource },
		Anyway:     b.doesAnyway,
		Says:       func(ask func() bool) { b.says = ask },
		Restarted:  func() int { return b.restarted },
		Tries:      func(t wellbehaved.Trials) { b.trials = t },
		Trial:      func() wellbehaved.Trial { return b.trial },
		Suspects:   func(ask func(property.World) []types.UID) { b.suspects = ask },
		Keeps:      func(of string, left func(property.World) []string) { b.keepers = append(b.keepers, keeper{of, left}) },
		Doubts:     func() { b.doubted = true },
		Remakes:    func(key string, obj any) { b.hits = append(b.hits, hit{key, obj}) },
		Revives:    func(uid types.UID) { b.revived = append(b.revived, uid) },
		Confirmed:  func() bool { return b.confirmed },
		Reconciles: wellbehaved.Reconciles{Begin: kindReconcile, End: kindReconciled, Sends: kindSends},
	}
	var ready []string
	for _, p := range b.w.o.ready {
		ready = append(ready, p.Name)
		for _, e := range p.Except {
			o.Except[p.Name] = append(o.Except[p.Name], wellbehaved.Exception{Client: e.Client, Object: e.Object})
		}
	}
	return wellbehaved.All(o, ready)
}

// processOf returns the process that a client is named after, nil if there is none.
func (b *wellBehaved) processOf(client sim.ActorID) *process {
	return b.w.byName[b.nameOf(client)]
}

// nameOf returns the name of a client, without "conn/".
func (b *wellBehaved) nameOf(client sim.ActorID) string {
	return strings.TrimPrefix(b.w.kernel.ActorName(client), "conn/")
}

// role tells the clients of controllers, which are named like their processes, from the test's own. Where there are no processes, the body's
// goroutines are the controllers.
func (b *wellBehaved) role(client sim.ActorID) wellbehaved.Role {
	switch name := b.w.kernel.ActorName(client); {
	case client == b.w.helpers:
		return wellbehaved.Outside
	case b.w.clusterClient(strings.TrimPrefix(name, "conn/")) != "", b.w.manager.has(client):
		return wellbehaved.Cluster
	case b.processOf(client) == nil && len(b.w.processes) > 0:
		return wellbehaved.Outside
	}
	return wellbehaved.Controller
}

// only returns the name of the only process, "" if there are several.
func (b *wellBehaved) only() string {
	if len(b.w.processes) != 1 {
		return ""
	}
	return b.w.processes[0].name
}

// runs reports whether the process of a client runs.
func (b *wellBehaved) runs(client sim.ActorID) bool {
	p := b.processOf(client)
	return p == nil || p.running && !p.life.dead()
}

// begins notes which of the test's requests is about to be sent.
func (b *wellBehaved) begins(q *request) {
	if b != nil {
		b.sending = q
	}
}

// Record implements sim.Observer.
func (b *wellBehaved) Record(r *sim.Record) {
	switch r.Kind {
	case fakeapiserver.KindRequest:
		b.noteWrite(r)
		b.noteListing(r)
		b.noteRead(r)
		b.noteCandidate(r)
		if q := b.sending; q != nil {
			sent := &wellbehaved.Request{
				Step: r.Step, At: r.At, Method: q.rest.Method, Path: q.rest.URL.RequestURI(), Body: bodyOf(q), ContentType: q.rest.Header.Get("Content-Type"), Manager: managerOf(q),
			}
			b.sent[sentBy{r.Actor, r.N}] = sent
			b.noteAgain(r.Actor, sent)
			b.noteAnyway(r, sent)
		}
	case fakeapiserver.KindCommit:
		b.noteAct(r)
		b.noteChange(r)
		b.noteRewrite(r)
		b.noteMade(r)
		b.noteTheirs(r)
		b.noteDeletion(r)
		b.noteFinalizers(r)
		b.noteDiscard(r)
	case fakeapiserver.KindResponse:
		b.answered = append(b.answered, sentBy{r.Actor, r.N})
	}
}

// noteAct counts what controllers change.
func (b *wellBehaved) noteAct(r *sim.Record) {
	if cl, _ := b.w.cluster.Serving(); cl != nil && !wellbehaved.Bookkeeping(r.Key) && b.role(cl.Actor()) == wellbehaved.Controller {
		b.acts++
	}
}

// StepEnd implements sim.Observer.
func (b *wellBehaved) StepEnd(*sim.StepInfo) {
	for _, q := range b.answered {
		delete(b.sent, q)
	}
	b.answered = b.answered[:0]
}

// managerOf returns the field manager of a request: the one that it names, or else the program's name in its User-Agent.
func managerOf(q *request) string {
	program, _, _ := strings.Cut(q.rest.Header.Get("User-Agent"), "/")
	return cmp.Or(q.rest.URL.Query().Get("fieldManager"), program)
}

// asked reports whether the test asks for a property.
func (b *wellBehaved) asked(name string) bool {
	return slices.ContainsFunc(b.w.o.ready, func(p wire.Property) bool { return p.Name == name })
}

// watch lets the run go on after its body.
func (b *wellBehaved) watch() {
	if b == nil || b.w.monitor.Violation() != nil {
		return
	}
	w := b.w
	w.remote.checks = false // the test's own checks were for what its body did
	w.remote.silent = true
	w.stopFaults()
	b.deleteAtEnd()
	b.calm, b.after, b.struck = w.kernel.Elapsed(), true, slices.Clone(w.run.Faults)
	w.goOn(b.rest())
	b.watched, b.watching = w.kernel.Elapsed(), true
	b.noteBehind()
	b.stir()
	w.goOn(watchTime)
	if b.asked(wellbehaved.NameEndless) {
		b.errors = w.remote.errors(b.calm)
	}
	if b.suspects != nil {
		b.unwanted = b.suspects(w)
	}
	b.findUsers()
	b.confirm()
	b.restart()
	b.remove()
	b.release()
	b.probe()
	b.remakeHit()
	if why := b.blind(); why != "" {
		w.kernel.Fail(errors.New(why))
	}
}

// noteBehind notes which clients do not know yet of everything that they watch.
func (b *wellBehaved) noteBehind() {
	for _, client := range b.w.cluster.Clients() {
		if id, is := b.w.kernel.ActorByName("conn/" + client); is {
			b.behind[id] = b.w.cluster.Behind(client)
		}
	}
}

// rest is how long controllers are left alone before the run does something to them.
func (b *wellBehaved) rest() time.Duration { return restTime + b.w.config.later }

// confirm has controllers look at everything once more if the property NoForgottenChange has to see what they make of that.
func (b *wellBehaved) confirm() {
	if !b.doubted || b.over() {
		return
	}
	b.conclude(probeDoubts)
	b.listAnew()
	b.confirmed = true
}

// listAnew has the controllers' informers list everything anew, and leaves them the time of a round.
func (b *wellBehaved) listAnew() {
	b.rewriteSoon()
	b.inject(b.endOfWatches(""))
	b.w.goOn(probeTime)
}

// stir has the controllers list everything anew, so that they reconcile it once more, and has their writes take time, as in a cluster. One that writes
// the time whenever it reconciles would rest otherwise: while the clock stands still, its second write is the first one again.
func (b *wellBehaved) stir() {
	b.rewriteSoon()
	soon := b.w.kernel.Elapsed() + time.Millisecond // a fault strikes in a step: that of the time that passes
	b.inject(fault.Fault{Kind: fault.WriteSlow, From: soon, Until: soon + watchTime, Duration: writeTime, Count: fault.Lasting}, b.endOfWatches(""))
}

// rewriteSoon gives each object a new resourceVersion once watches have ended, as a migration of the storage does: many handlers drop what comes with the version that they know.
func (b *wellBehaved) rewriteSoon() {
	b.w.kernel.Clock().AfterFunc(2*time.Millisecond, func() {
		s := b.w.cluster.Store()
		for id, r := range s.Resources() {
			if wellbehaved.Bookkeeping(r.Plural) {
				continue
			}
			var all []runtime.Object
			s.Newest(store.ResourceID(id), "", func(_ string, obj runtime.Object) bool {
				all = append(all, obj)
				return true
			})
			for _, obj := range all {
				obj = obj.DeepCopyObject()
				if m, err := meta.Accessor(obj); err == nil {
					m.SetResourceVersion("")
				}
				if _, err := b.w.cluster.Update(store.ResourceID(id), obj); err != nil {
					b.w.kernel.Fail(fmt.Errorf("to rewrite %s: %w", r.Plural, err))
					return
				}
			}
		}
	})
}

// endOfWatches is a fault that ends the watches that are open, of one resource or, if that is "", of all. It strikes just before removeSoon deletes something.
func (b *wellBehaved) endOfWatches(resource string) fault.Fault {
	return fault.Fault{Kind: fault.Watch410, Resource: resource, From: b.w.kernel.Elapsed() + time.Millisecond, Count: -1}
}

// inject injects faults into each controller's client.
func (b *wellBehaved) inject(faults ...fault.Fault) {
	for _, name := range b.w.cluster.Clients() {
		if b.role(b.w.cluster.Client(name).Actor()) != wellbehaved.Controller {
			continue
		}
		b.injectInto(name, faults...)
	}
}

// injectInto injects faults into a client.
func (b *wellBehaved) injectInto(client string, faults ...fault.Fault) {
	for _, f := range faults {
		f.Target = client
		if err := b.w.cluster.Inject(f); err != nil {
			b.w.kernel.Fail(err)
			return
		}
	}
}

// goOn makes steps until a virtual time has passed and nothing more can happen, or the run has failed.
func (w *world) goOn(d time.Duration) {
	clock := w.kernel.Clock()
	clock.LimitTo(d)
	for w.monitor.Violation() == nil && w.kernel.Err() == nil && !(clock.AtLimit() && w.quiet()) {
		w.step()
	}
	clock.Freeze()
}

// blind says why the ready-made properties have judged nothing; "" if they have.
func (b *wellBehaved) blind() string {
	if b == nil {
		return ""
	}
	var others []string
	for _, name := range b.w.cluster.Clients() {
		cl := b.w.cluster.Client(name)
		switch {
		case cl.Requests() == 0:
		case b.role(cl.Actor()) == wellbehaved.Controller:
			return ""
		case b.role(cl.Actor()) == wellbehaved.Outside && cl.Actor() != b.w.helpers:
			others = append(others, name)
		}
	}
	if len(others) == 0 {
		return "" // the processes have not come to make a request
	}
	var names []string
	for _, p := range b.w.processes {
		names = append(names, p.name)
	}
	return fmt.Sprintf("Options.Properties: the ready-made ones judge the clients that are named like processes (%s), and there are none: those that made requests "+
		"are %s. Pass the process's name to env.RESTConfig", strings.Join(names, ", "), strings.Join(others, ", "))
}

// readyNames checks that the names are those of ready-made properties.
func readyNames(all []wire.Property) error {
	for _, p := range all {
		if !slices.Contains(wellbehaved.Names, p.Name) {
			return fmt.Errorf("Options.Properties: there is no ready-made property %q: there are %s", p.Name, strings.Join(wellbehaved.Names, ", "))
		}
		for _, e := range p.Except {
			if e.Client == "" && e.Object == "" {
				return fmt.Errorf("Options.Properties: an exception from %s names neither a client nor an object: leave the property out instead", p.Name)
			}
		}
	}
	return nil
}
