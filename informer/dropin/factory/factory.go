package factory

import (
	"context"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/informer/dropin"
)

// Options configures a Factory. The zero value has no resync and no transform.
type Options struct {
	// DefaultResync is the resync period passed to NewFuncs.
	DefaultResync time.Duration
	// CustomResync overrides DefaultResync for individual types.
	CustomResync map[reflect.Type]time.Duration
	// Transform, if set, is set on every informer.
	Transform dropin.TransformFunc
}

// NewFunc creates an informer with a resync period.
type NewFunc func(resyncPeriod time.Duration) dropin.SharedIndexInformer

// Factory holds one informer for each Go type. It is safe for concurrent use.
type Factory struct {
	options Options

	mu           sync.Mutex
	informers    map[reflect.Type]dropin.SharedIndexInformer
	order        []reflect.Type // of the first InformerFor
	started      map[reflect.Type]bool
	shuttingDown bool
	wg           sync.WaitGroup
}

// New returns a factory without informers.
func New(options Options) *Factory {
	return &Factory{
		options:   options,
		informers: map[reflect.Type]dropin.SharedIndexInformer{},
		started:   map[reflect.Type]bool{},
	}
}

// InformerFor returns the informer of obj's type. The first call for a type creates it; later calls return the same one,
// whatever their newFunc (I91). A type first requested after Start needs another Start.
func (f *Factory) InformerFor(obj runtime.Object, newFunc NewFunc) dropin.SharedIndexInformer {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := reflect.TypeOf(obj)
	if existing := f.informers[t]; existing != nil {
		return existing
	}
	resync, custom := f.options.CustomResync[t]
	if !custom {
		resync = f.options.DefaultResync
	}
	made := newFunc(resync)
	if f.options.Transform != nil {
		// It fails only for an informer that has started, which a NewFunc does not return.
		_ = made.SetTransform(f.options.Transform)
	}
	f.informers[t] = made
	f.order = append(f.order, t)
	return made
}

// Start runs the informers that are not running yet, until the context ends. It does not block. After Shutdown it is a
// no-op (I91, I93).
func (f *Factory) Start(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shuttingDown {
		return
	}
	for _, t := range f.order {
		if f.started[t] {
			continue
		}
		f.started[t] = true
		run := f.informers[t].RunWithContext
		f.wg.Go(func() { run(ctx) })
	}
}

// WaitForCacheSync waits until the started informers have synced, or the context ends. Others do not count (I92).
func (f *Factory) WaitForCacheSync(ctx context.Context) dropin.SyncResult {
	running := f.running()
	var checkers []dropin.DoneChecker
	for _, i := range running {
		checkers = append(checkers, i.HasSyncedChecker())
	}
	dropin.WaitFor(ctx, "", checkers...)
	result := dropin.SyncResult{Synced: map[reflect.Type]bool{}}
	for t, i := range running {
		result.Synced[t] = i.HasSynced()
		if !result.Synced[t] {
			result.Err = context.Cause(ctx)
		}
	}
	return result
}

func (f *Factory) running() map[reflect.Type]dropin.SharedIndexInformer {
	f.mu.Lock()
	defer f.mu.Unlock()
	running := map[reflect.Type]dropin.SharedIndexInformer{}
	for t, started := range f.started {
		if started {
			running[t] = f.informers[t]
		}
	}
	return running
}

// Shutdown waits until every informer has stopped. It stops none: their contexts must end, before or meanwhile (I93).
func (f *Factory) Shutdown() {
	f.mu.Lock()
	f.shuttingDown = true
	f.mu.Unlock()
	f.wg.Wait()
}
