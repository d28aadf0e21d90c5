package dropin

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/informersim/informersim/informer"
)

// processor distributes notifications to the listeners of a shared informer. Package informer's Processor tracks which are
// resyncing, and how often; processor adds the lock and the goroutines.
type processor struct {
	mu        sync.Mutex
	cond      sync.Cond // of running
	core      informer.Processor
	listeners []*listener // in the order added
	running   bool        // the listeners' goroutines have been started
	upstream  bool        // the informer has synced
	wg        sync.WaitGroup
}

func newProcessor(resync time.Duration) *processor {
	p := &processor{core: informer.Processor{ResyncCheckPeriod: resync, DefaultResyncPeriod: resync}}
	p.cond.L = &p.mu
	return p
}

// add registers l. If the informer has started, replay is the store's content: l receives it as adds of the initial list
// before anything else (I79).
func (p *processor) add(l *listener, resync *time.Duration, now time.Time, replay []any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	account, err := p.core.AddListener(l.handler, informer.ListenerOptions{Name: l.handlerName, ResyncPeriod: resync}, now, nil)
	if err != nil {
		return err
	}
	l.resync = account
	p.listeners = append(p.listeners, l)
	for _, obj := range replay {
		l.add(&informer.Notification{Type: informer.NotifyAdd, New: obj, IsInInitialList: true})
	}
	if p.running {
		p.wg.Go(l.run)
	}
	if p.upstream {
		l.synced.upstreamSynced()
	}
	return nil
}

// remove removes a listener and drops its backlog (I81). Removing it again is a no-op.
func (p *processor) remove(handle ResourceEventHandlerRegistration) error {
	l, ok := handle.(*listener)
	if !ok {
		return fmt.Errorf("handle of type %T was not returned by AddEventHandler", handle)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.listeners, l)
	if i < 0 {
		return nil
	}
	p.listeners = slices.Delete(p.listeners, i, i+1)
	p.core.RemoveListener(l.resync)
	l.close()
	if !p.running {
		close(l.finished) // no goroutine will
	}
	return nil
}

// start fixes the resync check period and returns it: from now on handlers cannot shorten it (I78).
func (p *processor) start() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.core.Start()
	return p.core.ResyncCheckPeriod
}

// run starts the listeners, and stops them when stop is closed (I88).
func (p *processor) run(stop <-chan struct{}) {
	p.mu.Lock()
	p.running = true
	for _, l := range p.listeners {
		p.wg.Go(l.run)
	}
	p.cond.Broadcast()
	p.mu.Unlock()

	<-stop

	p.mu.Lock()
	p.core.Stop()
	for _, l := range p.listeners {
		l.close()
	}
	p.listeners = nil
	p.cond.Broadcast()
	p.mu.Unlock()
	p.wg.Wait()
}

// distribute passes n to every listener, or to the syncing ones only if it is an update with an unchanged resourceVersion
// (I75). It waits while there are listeners that are not running yet (I83).
func (p *processor) distribute(n informer.Notification) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.running && len(p.listeners) > 0 {
		p.cond.Wait()
	}
	isSync := n.IsSync()
	for _, l := range p.listeners {
		if !isSync || l.resync.Syncing() {
			l.add(&n)
		}
	}
}

// synced tells every listener, present and future, that the informer has synced (I86).
func (p *processor) synced() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.upstream = true
	for _, l := range p.listeners {
		l.synced.upstreamSynced()
	}
}

// shouldResync recomputes which listeners are syncing and reports whether any is (I77).
func (p *processor) shouldResync(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.core.ShouldResync(now)
}
