package library

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// failing is an informer whose first list, or first watch, fails. It tells whoever asked to be told. It is stopped before it tries again, so that it has
// synced only if it was the watch that failed.
func failing(c *check) {
	from := &refusing{source: *newSource(object("ns1/a", 1))}
	errs := []error{errors.New("it is broken"), apierrors.NewResourceExpired("it has expired"), apierrors.NewGone("it is gone"), apierrors.NewInternalError(errors.New("it is broken")), io.EOF}
	lists := c.IntN(2) == 0
	var failure error
	if lists {
		failure = []error{errs[0], errs[3], errs[4]}[c.IntN(3)] // a list of no revision does not expire
		from.list1 = failure
	} else {
		failure = errs[c.IntN(len(errs))]
		from.watch1 = failure
	}
	period, own := time.Duration(c.IntN(3))*time.Hour, time.Duration(c.IntN(4))*40*time.Minute // too long to come
	described := []string{"", "things"}[c.IntN(2)]
	inf := cache.NewSharedIndexInformerWithOptions(from, &metav1.PartialObjectMetadata{}, cache.SharedIndexInformerOptions{ResyncPeriod: period, ObjectDescription: described})
	if described == "" {
		described = "*v1.PartialObjectMetadata"
	}
	var told []error
	tell := func(r *cache.Reflector, err error) {
		told = append(told, err)
		if r == nil {
			c.is("the reflector of which the handler of watch errors is told", described, "none")
			return
		}
		c.is("what a reflector is of, of which the handler of watch errors is told", described, r.TypeDescription())
	}
	type owner struct{}
	whose := ""
	if c.IntN(2) == 0 { // the last that is set counts
		c.no("SetWatchErrorHandler", inf.SetWatchErrorHandler(func(*cache.Reflector, error) { told = append(told, errors.New("it was another handler's")) }))
	}
	if c.IntN(2) == 0 {
		whose = "me"
		c.no("SetWatchErrorHandler", inf.SetWatchErrorHandler(tell))
	} else {
		c.no("SetWatchErrorHandlerWithContext", inf.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *cache.Reflector, err error) {
			whose = fmt.Sprint(ctx.Value(owner{}))
			tell(r, err)
		}))
	}
	stored, other := []string{"ns1/a@1"}, func(any) (any, error) { return object("ns2/a", 2), nil }
	for range c.IntN(3) { // so does the last transform, or none
		c.no("SetTransform", inf.SetTransform(other))
		if stored = []string{"ns2/a@2"}; c.IntN(2) == 0 {
			c.no("SetTransform", inf.SetTransform(nil))
			stored = []string{"ns1/a@1"}
		}
	}
	reg, err := inf.AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerFuncs{}, own)
	c.no("AddEventHandlerWithResyncPeriod", err)
	c.named(inf, reg)
	cancel, ended := running(func(ctx context.Context) { inf.RunWithContext(context.WithValue(ctx, owner{}, "me")) })
	c.quiesce()
	looks := period
	if own > 0 {
		looks = min(period, own)
	}
	c.inside(fmt.Sprintf("how often an informer of %v looks for resyncs whose handler asks for %v", period, own), looks, inf, "controller", "config", "FullResyncPeriod")
	cancel()
	c.quiesce()
	if !lists {
		c.is("what an informer has stored whose watch has failed", stored, texts(inf.GetStore().List()))
	}
	c.is("how often the handler of watch errors was told", 1, len(told))
	if len(told) == 1 {
		c.is("whether the handler of watch errors was told of "+failure.Error(), true, errors.Is(told[0], failure))
		c.is("whose context the handler of watch errors has", "me", whose)
	}
	c.is("whether Run of an informer returns that was stopped after a failure", true, closed(ended))
	for what, got := range byName(map[string]bool{
		"HasSynced of the informer": inf.HasSynced(), "HasSynced of its controller": inf.GetController().HasSynced(), "HasSynced of its handler": reg.HasSynced(),
		"the checker of the informer": cache.IsDone(inf.HasSyncedChecker()), "the checker of its handler": cache.IsDone(reg.HasSyncedChecker()),
	}) {
		c.is(fmt.Sprintf("%s, which was stopped after its list has failed: %t", what, lists), !lists, got)
	}
	c.broken()
}

// brokenList is a source whose lists panic.
type brokenList struct{ source }

// List implements cache.ListerWatcher.
func (*brokenList) List(metav1.ListOptions) (runtime.Object, error) { panic("the list is broken") }

// broken is a list that panics. Who runs the reflector has to know: the list is a goroutine of its own.
func (c *check) broken() {
	r := cache.NewReflector(&brokenList{}, &metav1.PartialObjectMetadata{}, cache.NewStore(cache.MetaNamespaceKeyFunc), 0)
	ctx, cancel := context.WithCancel(context.Background())
	var with any
	if c.returns("ListAndWatch of a list that panics", func() {
		defer func() { with = recover() }()
		c.no("ListAndWatch", r.ListAndWatchWithContext(ctx))
	}) {
		c.is("what ListAndWatch of a list that panics does", "the list is broken", with)
	}
	cancel()
	c.quiesce()
}

// OnThis is a function of a handler, which is named after what its functions have in common.
func (*check) OnThis(any) {}

// named compares the names of what waits for an informer, which are those of types and functions.
func (c *check) named(inf cache.SharedIndexInformer, reg cache.ResourceEventHandlerRegistration) {
	const of = "SharedIndexInformer *v1.PartialObjectMetadata"
	c.is("Name of the checker of an informer", of, inf.HasSyncedChecker().Name())
	handlers := []struct {
		h    cache.ResourceEventHandler
		want string
	}{
		{cache.ResourceEventHandlerFuncs{AddFunc: c.OnThis, DeleteFunc: c.OnThis}, "gates/library.(*check)"},
		{&cache.ResourceEventHandlerFuncs{AddFunc: c.OnThis}, "gates/library.(*check)"},
		{cache.ResourceEventHandlerFuncs{AddFunc: c.OnThis, DeleteFunc: otherFunction}, "gates/library.(*check).OnThis-fm+gates/library.otherFunction"},
		{cache.FilteringResourceEventHandler{FilterFunc: none}, "k8s.io/client-go/tools/cache.FilteringResourceEventHandler"},
		{&cache.FilteringResourceEventHandler{FilterFunc: none}, "k8s.io/client-go/tools/cache.FilteringResourceEventHandler"},
		{cache.ResourceEventHandlerFuncs{}, "cache.ResourceEventHandlerFuncs"},
	}
	at := handlers[c.IntN(len(handlers))]
	other, err := inf.AddEventHandler(at.h)
	c.no("AddEventHandler", err)
	c.is("Name of the checker of a handler", of+" + event handler "+at.want, strings.ReplaceAll(other.HasSyncedChecker().Name(), "github.com/informersim/informersim/subjects/clientgo/", ""))
	c.is("whether two handlers are one", false, other == reg)
}

// none is a filter that lets nothing pass.
func none(any) bool { return false }

// otherFunction is no method.
func otherFunction(any) {}
