package library

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// registrations are handlers of informers that have not started.
func registrations(c *check) {
	for range 6 {
		c.registration()
	}
	c.typedHandlers()
	over := errors.New("over")
	result := cache.SyncResult{Err: over, Synced: map[reflect.Type]bool{reflect.TypeFor[*metav1.PartialObjectMetadata](): false, reflect.TypeFor[*metav1.Status](): true}}
	c.is("AsError of a SyncResult", "failed to sync all caches: *v1.PartialObjectMetadata: over", message(result.AsError()))
	c.is("whether AsError of a SyncResult wraps its error", true, errors.Is(result.AsError(), over))
	c.is("AsError of a SyncResult without an error", "", message(cache.SyncResult{}.AsError()))
	c.runsAgain()
	c.shutsBusy()
	c.sameGeneration()
}

// foreign is the registration of a handler of something else.
type foreign struct {
	cache.ResourceEventHandlerRegistration
}

// removes is an informer that removes whatever it is asked to.
type removes struct{ cache.SharedInformer }

// RemoveEventHandler implements cache.SharedInformer.
func (removes) RemoveEventHandler(cache.ResourceEventHandlerRegistration) error { return nil }

// removesNothing is an informer that refuses to remove a handler.
type removesNothing struct{ cache.SharedInformer }

// RemoveEventHandler implements cache.SharedInformer.
func (removesNothing) RemoveEventHandler(cache.ResourceEventHandlerRegistration) error {
	return errRefused
}

// registration adds a handler, and removes it.
func (c *check) registration() {
	period, own := time.Duration(c.IntN(4))*5*time.Second, time.Duration(c.IntN(5))*400*time.Millisecond
	inf := cache.NewSharedIndexInformer(&cache.ListWatch{}, &metav1.PartialObjectMetadata{}, period, cache.Indexers{})
	reg, err := inf.AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerFuncs{}, own)
	c.no("AddEventHandler", err)
	want := max(own, time.Second) // I78
	if own == 0 || period == 0 {
		want = 0
	}
	c.inside(fmt.Sprintf("the resync period of a handler that asks for %v, of an informer that has %v", own, period), want, reg, "resyncPeriod")
	c.is("HasSynced of a handler", false, reg.HasSynced())
	c.is("HasSynced", false, inf.HasSynced())
	c.is("HasSynced of GetController", false, inf.GetController().HasSynced())
	c.is("LastSyncResourceVersion", "", inf.LastSyncResourceVersion())
	c.is("LastSyncResourceVersion of GetController", "", inf.GetController().LastSyncResourceVersion())
	c.is("IsStopped", false, inf.IsStopped())
	c.refused("RemoveEventHandler of nothing", inf.RemoveEventHandler(nil))
	var refusal error
	if c.returns("ShutDownEventHandler of a handler that is not removed", func() { refusal = cache.ShutDownEventHandler(removesNothing{inf}, reg) }) {
		c.is("whether ShutDownEventHandler says that a handler is not removed", true, errors.Is(refusal, errRefused))
	}
	running, _ := c.waits(func() { err = cache.ShutDownEventHandler(inf, reg) }, func() {})
	c.is("ShutDownEventHandler waits", false, running)
	c.refused("ShutDownEventHandler of what is no handler", cache.ShutDownEventHandler(inf, foreign{}))
	c.refused("ShutDownEventHandler of a handler that cannot say whether it is busy", cache.ShutDownEventHandler(removes{inf}, foreign{}))
	if !running {
		c.no("ShutDownEventHandler", err)
	}
}
