package world

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/world/wellbehaved"
)

// effects deletes and makes an object of the test's, twice while nothing fails and then while what controllers do about that fails, for the property NoLostEffect. Which object follows from the seed.
func (b *wellBehaved) effects() {
	if !b.asked(wellbehaved.NameEffect) || !b.w.config.restarts || !b.crashable() || b.over() {
		return
	}
	if len(b.triers) == 0 {
		return
	}
	b.conclude(probeEffects)
	t := b.triers[int(b.w.seed%uint64(len(b.triers)))]
	b.w.stopFaults()
	if t.there() || t.comes(wellbehaved.Trial{}) { // it has gone if controllers were to remove their finalizers of it
		t.run()
	}
	b.trial = wellbehaved.Trial{}
	b.recognize(t.x)
}

// findTriers finds what can be tried, before anything else is done to it.
func (b *wellBehaved) findTriers() {
	for _, x := range b.cleanable() {
		t := trier{b: b, x: x}
		if t.path, t.body = b.remaking(x); t.path != "" {
			b.triers = append(b.triers, t)
		}
	}
}

// cleanable returns the last object of each resource that the test has made, and nothing holds but controllers. Of what belongs to no namespace those of custom resources are: a cluster does not replace its Nodes
// and Namespaces.
func (b *wellBehaved) cleanable() (all []belonging) {
	for _, x := range slices.Backward(b.theirs) {
		if b.cleans(x) && !slices.ContainsFunc(all, func(y belonging) bool { return y.resource == x.resource }) {
			all = append(all, x)
		}
	}
	return all
}

// cleans reports whether an object of the test's is there and goes, once controllers have done what they do then, if it is deleted.
func (b *wellBehaved) cleans(x belonging) bool {
	m := b.object(x.probed)
	return m != nil && m.GetUID() == x.uid && m.GetDeletionTimestamp() == nil && (x.namespace != "" || b.custom(x.resource)) &&
		!slices.ContainsFunc(m.GetFinalizers(), func(f string) bool {
			return !slices.ContainsFunc(b.holds, func(h holding) bool { return h.resource == x.resource && h.finalizer == f })
		})
}

// trier tries an object.
type trier struct {
	b    *wellBehaved
	x    belonging
	path string
	body []byte
}

// try begins a trial, and lets it go on for a round.
func (t *trier) try(trial wellbehaved.Trial, do func()) {
	b := t.b
	trial.N, trial.Key = b.trial.N+1, t.x.key()
	b.trial = trial
	do()
	b.w.goOn(probeTime)
}

func (t *trier) there() bool { return t.b.object(t.x.probed) != nil }

func (t *trier) remove() {
	if m := t.b.object(t.x.probed); m != nil {
		t.b.removeSoon(t.path+"/"+t.x.name, m.GetUID())
	}
}

func (t *trier) make() {
	t.b.w.kernel.Clock().AfterFunc(2*time.Millisecond, func() { t.b.serve(http.MethodPost, t.path, "application/json", t.body) })
}

// goes deletes the object, and reports whether it has gone: it may wait for something.
func (t *trier) goes(trial wellbehaved.Trial) bool {
	trial.Trigger = wellbehaved.TriggerGone
	t.try(trial, t.remove)
	return !t.b.over() && !t.there()
}

// comes makes the object anew, and reports whether it is there: the API may refuse it.
func (t *trier) comes(trial wellbehaved.Trial) bool {
	trial.Trigger = wellbehaved.TriggerMade
	t.try(trial, t.make)
	return !t.b.over() && t.there()
}

func (t *trier) run() {
	none, failing := wellbehaved.Trial{}, wellbehaved.Trial{Failing: true}
	b := t.b
	b.w.stopFaults()
	for range 2 {
		if !t.goes(none) || !t.comes(none) {
			return
		}
	}
	removes := b.trials.Effects(wellbehaved.TriggerGone)
	if len(removes) > 0 {
		b.failEach(removes, "delete", "deletecollection")
		if !t.goes(failing) {
			return
		}
		b.awaits()
	} else if !t.goes(none) {
		return
	}
	if makes := t.one(b.trials.Effects(wellbehaved.TriggerMade)); len(makes) > 0 {
		b.failEach(makes, "create")
		if !t.comes(failing) {
			return
		}
		b.awaits()
	} else if !t.comes(none) {
		return
	}
	if len(removes) > 0 && !b.over() && t.goes(none) {
		t.hasty()
		t.lagging(removes)
	}
	if !b.over() && (t.there() || t.comes(none)) {
		t.unanswered()
	}
}

// unanswered makes the object once more while the answer to a create that controllers send for it is lost: what they have made themselves is there when they try again.
func (t *trier) unanswered() {
	b := t.b
	makes := t.one(b.trials.Effects(wellbehaved.TriggerMade))
	if len(makes) == 0 || !t.goes(wellbehaved.Trial{}) {
		return
	}
	b.w.stopFaults()
	for _, e := range makes {
		resource, _, _ := strings.Cut(e.Key, " ")
		b.injectInto(e.Client, fault.Fault{Kind: fault.WriteLost, Verb: "create", Resource: resource, From: b.w.kernel.Elapsed() + time.Millisecond})
	}
	if t.comes(wellbehaved.Trial{Failing: true, Lost: true}) {
		b.awaits()
	}
}

// hasty makes the object and deletes it at once, while controllers cannot write it: a finalizer that is to keep it until all is cleaned up has to be there before there is anything to clean up.
func (t *trier) hasty() {
	b := t.b
	trial := wellbehaved.Trial{Trigger: wellbehaved.TriggerGone, Failing: true, Hasty: true}
	t.try(trial, func() {
		f := b.lasting()
		f.Kind, f.Resource, f.Namespace, f.Name, f.From = fault.Write500, t.x.resource, t.x.namespace, t.x.name, b.w.kernel.Elapsed()+time.Millisecond
		b.inject(f)
		t.makeAndRemove()
	})
	if !b.over() && !t.there() {
		b.awaits()
	}
}

// lagging makes the object and deletes it when controllers have done what they do for it, of which the watch of one resource has not told them yet: what a cache does not have may be there.
func (t *trier) lagging(removes []wellbehaved.Effect) {
	b := t.b
	if b.over() || t.there() {
		return
	}
	b.w.stopFaults()
	e := t.one(removes)[0]
	resource, _, _ := strings.Cut(e.Key, " ")
	if resource == t.x.resource {
		return // its end would be told late, too
	}
	trial := wellbehaved.Trial{Trigger: wellbehaved.TriggerGone, Failing: true, Hasty: true, Lagging: resource}
	t.try(trial, func() {
		b.injectInto(e.Client, fault.Fault{Kind: fault.WatchDelay, Resource: resource, From: b.w.kernel.Elapsed() + time.Millisecond, Duration: wellbehaved.Outage, Count: -1})
		t.makeAndRemove()
	})
	if !b.over() && !t.there() {
		b.awaits()
	}
}

// makeAndRemove makes the object, and deletes it soon after.
func (t *trier) makeAndRemove() {
	t.make()
	t.b.w.kernel.Clock().AfterFunc(wellbehaved.Hasty, func() {
		t.b.serve(http.MethodDelete, t.path+"/"+t.x.name, "application/json", deleteNow(""))
	})
}

// one returns one of some effects, another one each seed: whoever writes one thing after another may only give up what comes last.
func (t *trier) one(all []wellbehaved.Effect) []wellbehaved.Effect {
	if len(all) == 0 {
		return nil
	}
	n := int(t.b.w.seed % uint64(len(all)))
	return all[n : n+1]
}

// failEach has fail what controllers do to objects, for as long as an outage lasts: the verbs to all that is in their resources, and any to the object itself.
func (b *wellBehaved) failEach(all []wellbehaved.Effect, verbs ...string) {
	done := map[listing]bool{}
	for _, e := range all {
		resource, object, _ := strings.Cut(e.Key, " ")
		f := b.lasting()
		f.Kind, f.Resource, f.From = fault.Write500, resource, b.w.kernel.Elapsed()+time.Millisecond
		if x := (listing{e.Client, resource}); !done[x] {
			done[x] = true
			for _, f.Verb = range verbs {
				b.injectInto(e.Client, f)
			}
		}
		f.Verb = ""
		f.Namespace, f.Name = placeOf(object)
		b.injectInto(e.Client, f)
	}
}

// awaits gives controllers the time that any backoff takes, and has them look at everything anew and begin anew, if something is lacking; then it is for good.
func (b *wellBehaved) awaits() {
	b.w.stopFaults()
	if b.over() || !b.trials.Misses(b.w, false) {
		return
	}
	b.w.goOn(b.rest())
	b.listAnew()
	b.restartAll()
	b.restartAll() // who has been the leader may have to wait
	if !b.over() {
		b.trials.Misses(b.w, true)
		b.w.goOn(probeTime)
	}
}
