//go:build !no_typed_handlers

package gates

import (
	"context"
	"fmt"
	"strings"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo/gates/library"
)

// outcomes collects what comes of calls.
type outcomes struct {
	all []subjects.Outcome
	// stuck says that a call has not returned. It may have locks that the others need.
	stuck bool
}

func (o *outcomes) err(call, want string, err error) {
	x := subjects.OutcomeOf(call, want, err)
	if o.stuck = err == errBlocked; o.stuck {
		x.Got = "it does not return"
	}
	o.all = append(o.all, x)
}

func (o *outcomes) is(call string, want, got any) {
	o.all = append(o.all, subjects.Outcome{Call: call, Want: fmt.Sprint(want), Got: fmt.Sprint(got)})
}

// Outcomes makes calls of an informer that it has to refuse, that change nothing, or that ask how far it is. It is for the end of a run.
func (g *Gates) Outcomes(n int) []subjects.Outcome {
	g.begin()
	o := &outcomes{}
	before := panicked.Load()
	g.outcomes(n, o)
	o.panics(before)
	return o.all
}

func (g *Gates) outcomes(n int, o *outcomes) {
	i := g.informers[n]
	if i.ended == nil {
		return
	}
	if i.unpaid != "" {
		o.all = append(o.all, subjects.Outcome{Call: "the function of SetWatchErrorHandler, after a list that failed", Want: "told of it", Got: "not told of: " + i.unpaid})
	}
	g.mu.Lock()
	misused := i.misused
	g.mu.Unlock()
	if misused != "" {
		o.all = append(o.all, subjects.Outcome{Call: "the function of SetTransform", Want: "called with what comes from the server", Got: "called with " + misused})
	}
	select {
	case <-i.ended:
		i.outcomesStopped(o)
	default:
		if i.loop.Err() == nil {
			i.outcomesRunning(o)
		}
	}
}

// panics notes that a goroutine has panicked since before, which client-go recovers. What is called at the end of a run has no step after which somebody
// looks for that.
func (o *outcomes) panics(before *subjects.Failure) {
	if p := panicked.Load(); p != before {
		what, _, _ := strings.Cut(p.What, "\n  called by ")
		o.is("a goroutine of these calls", "no panic", what)
	}
}

// libraryLimit is the virtual time that a turn may take. It passes only if the turn waits for what does not come.
const libraryLimit = time.Minute

// Library makes the calls of a turn of what client-go offers beside informers and work queues. They have a goroutine of their own, so that one that does
// not return is noticed: by the watchdog if it waits for a lock.
func (g *Gates) Library(turn uint64) []subjects.Outcome {
	g.begin()
	queue := chooseVariant(turn / library.Parts)
	before := panicked.Load()
	o, returned := &outcomes{}, make(chan struct{})
	go func() {
		defer close(returned)
		o.all = library.Check(turn, minor(), synctest.Wait)
	}()
	if g.b.PassUntil(returned, libraryLimit) {
		g.b.Quiesce()
		o.panics(before)
	} else {
		o = &outcomes{}
		o.is(library.Part(turn)+": a call", "returns", "does not return")
	}
	for n := range o.all {
		o.all[n].Call += " (with the queue " + queue + ")"
	}
	return o.all
}

// chooseVariant sets the gates to one of the combinations that client-go has, and names the queue of informers.
func chooseVariant(n uint64) (queue string) {
	queue = []string{"delta", "inorder", "atomic", "atomic"}[n%4]
	choose(queue, true)
	featuresNow.set[features.InOrderInformersBatchProcess] = n%8 < 4
	featuresNow.set[features.UnlockWhileProcessingFIFO] = n%4 < 3
	if n%4 == 3 {
		queue += ", which does not unlock"
	}
	return queue
}

// outcomesStopped are those of an informer that has ended.
func (i *informer) outcomesStopped(o *outcomes) {
	o.is("IsStopped of an informer that has ended", true, i.inf.IsStopped())
	o.is("HasSynced of an informer that has ended", i.syncedAtStop, i.inf.HasSynced())
	i.outcomesController(o)
	o.err("AddEventHandler of an informer that has ended", subjects.Refused, i.call("AddEventHandler", func() error {
		_, err := i.inf.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		return err
	}))
	if o.stuck {
		return
	}
	o.err("AddIndexers of an informer that has ended", subjects.Refused, i.inf.AddIndexers(cache.Indexers{"late": cache.MetaNamespaceIndexFunc}))
	for _, h := range i.handlers {
		if h.reg != nil && !o.stuck {
			o.err("RemoveEventHandler of an informer that has ended", subjects.Accepted, i.call("RemoveEventHandler", func() error { return i.removes(h) }))
		}
	}
}

// removes removes a handler, and makes an error of a panic.
func (i *informer) removes(h *handler) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it panics: %v", r)
		}
	}()
	return i.inf.RemoveEventHandler(h.reg)
}

// outcomesController are those of what GetController returns, which knows no more than the informer.
func (i *informer) outcomesController(o *outcomes) {
	c := i.inf.GetController()
	o.is("HasSynced of GetController", i.inf.HasSynced(), c.HasSynced())
	o.is("IsDone of the HasSyncedChecker of GetController", i.inf.HasSynced(), cache.IsDone(c.HasSyncedChecker()))
	o.is("LastSyncResourceVersion of GetController", i.inf.LastSyncResourceVersion(), c.LastSyncResourceVersion())
	before := featuresNow.set
	featuresNow.set = map[features.Feature]bool{features.InformerResourceVersion: false}
	o.is("LastSyncResourceVersion of GetController without the gate InformerResourceVersion", "", c.LastSyncResourceVersion())
	featuresNow.set = before
}

// outcomesRunning are those of an informer that runs.
func (i *informer) outcomesRunning(o *outcomes) {
	inf := i.inf
	o.is("IsStopped of an informer that runs", false, inf.IsStopped())
	i.outcomesController(o)
	o.err("SetTransform of an informer that runs", subjects.Refused, inf.SetTransform(func(obj any) (any, error) { return obj, nil }))
	o.err("SetWatchErrorHandler of an informer that runs", subjects.Refused, inf.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
	o.err("AddIndexers with the name of an index that there is", subjects.Refused, inf.AddIndexers(cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}))
	o.err("another Run of an informer that runs", subjects.Accepted, i.call("Run", func() error {
		inf.RunWithContext(i.loop.Context)
		return nil
	}))
	for _, h := range i.handlers {
		if o.stuck {
			return
		}
		if h.removed {
			o.err("RemoveEventHandler of a handler that was removed", subjects.Accepted, i.call("RemoveEventHandler", func() error { return inf.RemoveEventHandler(h.reg) }))
		}
	}
	if !o.stuck {
		i.outcomesSync(o)
	}
}

// outcomesSync are those of the ways to wait until an informer has synced, for somebody who waits no longer.
func (i *informer) outcomesSync(o *outcomes) {
	synced := i.inf.HasSynced()
	over, cancel := context.WithCancel(context.Background())
	cancel()
	waits := func(what string, want bool, f func() bool) {
		got := false
		if o.stuck = o.stuck || i.call(what, func() error { got = f(); return nil }) == errBlocked; !o.stuck {
			o.is(what, want, got)
		}
	}
	never := func() bool { return false }
	waits("WaitForCacheSync", synced, func() bool { return cache.WaitForCacheSync(over.Done(), i.inf.HasSynced) })
	waits("WaitForCacheSync with a cache that never syncs", false, func() bool { return cache.WaitForCacheSync(over.Done(), i.inf.HasSynced, never) })
	waits("WaitForNamedCacheSync", synced, func() bool { return cache.WaitForNamedCacheSync("informersim", over.Done(), i.inf.HasSynced) })
	waits("WaitForNamedCacheSyncWithContext", synced, func() bool { return cache.WaitForNamedCacheSyncWithContext(over, i.inf.HasSynced) })
	o.is("IsDone of HasSyncedChecker", synced, cache.IsDone(i.inf.HasSyncedChecker()))
	checkers, all := []cache.DoneChecker{i.inf.HasSyncedChecker()}, synced
	for _, h := range i.handlers {
		if !h.removed && h.reg != nil {
			checkers, all = append(checkers, h.reg.HasSyncedChecker()), all && h.reg.HasSynced()
		}
	}
	waits("WaitFor of an informer and its handlers", all, func() bool { return cache.WaitFor(over, "", checkers...) })
}

// listens has an informer tell of errors, before it starts. The default function is left to half of the informers.
func (i *informer) listens() error {
	if i.n%2 == 1 {
		return nil
	}
	return i.inf.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		if err != nil && i.owed != nil && strings.Contains(err.Error(), i.owed.Error()) {
			i.owed = nil
		}
	})
}

// listFails notes an error that ends a round of list and watch, of which the function that was set is to be told before the next list.
func (i *informer) listFails(err error) {
	if i.n%2 == 0 && err != nil && !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) && !apierrors.IsTimeout(err) {
		i.owed = err
	}
}

// listBegins notes a list. Nobody has been told of the failure of the one before, if that is still owed.
func (i *informer) listBegins() {
	if i.owed != nil && i.unpaid == "" {
		i.unpaid = i.owed.Error()
	}
}

// watched notes what a transform is called with that it should not be: tombstones, and what the Indexer holds of it already. The server's objects are
// shared, and may rightly come again, so an object counts only if the transform has made it.
func (i *informer) watched(transform func(any) (any, error)) func(any) (any, error) {
	made := map[string]any{} // by key, the last; guarded by the gates' mu
	return func(obj any) (any, error) {
		key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
		if err != nil {
			return transform(obj)
		}
		held, _, _ := i.inf.GetIndexer().GetByKey(key) // it has no errors
		of, err := transform(obj)
		i.g.mu.Lock()
		defer i.g.mu.Unlock()
		_, tombstone := obj.(cache.DeletedFinalStateUnknown)
		switch {
		case tombstone && i.misused == "":
			i.misused = "a tombstone of " + key
		case tombstone:
		case made[key] == obj && held == obj && i.misused == "":
			i.misused = "what the Indexer holds of " + key
		case of != obj && err == nil:
			made[key] = of
		}
		return of, err
	}
}
