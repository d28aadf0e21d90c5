package informer

import (
	"errors"
	"slices"
	"time"

	"k8s.io/client-go/tools/cache"
)

// ErrStopped is returned by what a stopped informer no longer does (I73, I80).
var ErrStopped = errors.New("the informer has stopped already: make a new one")

// minResyncPeriod is the shortest resync period a listener can have (I78).
const minResyncPeriod = time.Second

// Processor holds the listeners of one informer and gives each its notifications (I75 to I86). It is not safe for
// concurrent use. The zero value has no listeners, no resync, and is not started.
type Processor struct {
	// ResyncCheckPeriod is how often the Reflector asks ShouldResync, 0 for never. Listeners added before Start lower it to
	// their own period; afterwards theirs are raised to it (I78).
	ResyncCheckPeriod time.Duration
	// DefaultResyncPeriod is that of listeners which name none.
	DefaultResyncPeriod time.Duration
	// UpstreamHasSynced says whether the informer has: a listener's HasSynced builds on it (I86). nil means never.
	UpstreamHasSynced func() bool

	listeners []*Listener // in the order in which they were added
	nextID    int
	started   bool
	stopped   bool
}

// ListenerOptions configures a Listener. The zero value takes the Processor's default resync period.
type ListenerOptions struct {
	// Name is for messages.
	Name string
	// ResyncPeriod is how often the listener wants updates of everything. nil means Processor.DefaultResyncPeriod, 0 never.
	ResyncPeriod *time.Duration
}

// AddListener registers handler as of now. A listener counts as syncing until the first ShouldResync (I76). If the
// processor has started, replay must be the store's content: the listener gets it as adds of the initial list (I79).
// It fails with ErrStopped after Stop (I80).
func (p *Processor) AddListener(h cache.ResourceEventHandler, o ListenerOptions, now time.Time, replay []any) (*Listener, error) {
	if p.stopped {
		return nil, ErrStopped
	}
	requested := p.DefaultResyncPeriod
	if o.ResyncPeriod != nil {
		requested = *o.ResyncPeriod
	}
	requested = p.adoptResyncPeriod(requested)
	l := &Listener{
		id:              p.nextID,
		name:            o.Name,
		handler:         h,
		processor:       p,
		syncing:         true,
		requestedResync: requested,
		resyncPeriod:    effectiveResyncPeriod(requested, p.ResyncCheckPeriod),
	}
	l.nextResync = now.Add(l.resyncPeriod)
	p.nextID++
	p.listeners = append(p.listeners, l)
	if p.started {
		for _, obj := range replay {
			key, _ := queueKey(MetaNamespaceKey, obj) // for display: what has no key is replayed all the same
			l.add(&Notification{Type: NotifyAdd, Key: key, New: obj, IsInInitialList: true})
		}
	}
	return l, nil
}

// adoptResyncPeriod applies the minimum and brings the listener's period and the check period together (I78).
func (p *Processor) adoptResyncPeriod(requested time.Duration) time.Duration {
	if requested <= 0 {
		return requested
	}
	requested = max(requested, minResyncPeriod)
	if requested >= p.ResyncCheckPeriod {
		return requested
	}
	if p.started {
		return p.ResyncCheckPeriod
	}
	p.ResyncCheckPeriod = requested
	for _, l := range p.listeners {
		l.resyncPeriod = effectiveResyncPeriod(l.requestedResync, requested)
	}
	return requested
}

// effectiveResyncPeriod is 0 where no resync is wanted or none can happen, and never below the check period (I78).
func effectiveResyncPeriod(requested, check time.Duration) time.Duration {
	if requested == 0 || check == 0 {
		return 0
	}
	return max(requested, check)
}

// RemoveListener takes l out: it gets nothing more, and what waits in its ring is dropped. A call in flight goes on until
// its Finish (I81). Removing a listener twice, or one of another processor, does nothing.
func (p *Processor) RemoveListener(l *Listener) {
	i := slices.Index(p.listeners, l)
	if i < 0 {
		return
	}
	p.listeners = slices.Delete(p.listeners, i, i+1)
	l.drop()
}

// Listeners returns the registered listeners in the order in which they were added. The slice is the Processor's own.
func (p *Processor) Listeners() []*Listener { return p.listeners }

// Start lets notifications through. Until then a Controller with listeners must not be stepped: in client-go its
// goroutine waits (I83). What is distributed before all the same is kept.
func (p *Processor) Start() { p.started = true }

// Started says whether Start was called and Stop was not.
func (p *Processor) Started() bool { return p.started && !p.stopped }

// Holds says whether the Controller has to wait for Start (I83).
func (p *Processor) Holds() bool { return !p.started && !p.stopped && len(p.listeners) > 0 }

// Stop ends all listeners: what waits in their rings is dropped, calls in flight go on until their Finish. It comes after
// the Controller's last step (I88).
func (p *Processor) Stop() {
	p.stopped = true
	for _, l := range p.listeners {
		l.drop()
	}
	p.listeners = nil
}

// Stopped says whether Stop was called.
func (p *Processor) Stopped() bool { return p.stopped }

// Distribute gives n to every listener; an update that changed no resourceVersion to the syncing ones only (I75).
func (p *Processor) Distribute(n Notification) {
	isSync := n.IsSync()
	for _, l := range p.listeners {
		if !isSync || l.syncing {
			l.add(&n)
		}
	}
}

// ShouldResync recomputes which listeners are syncing, moves the next resync of those that are, and says whether there is
// one (I77).
func (p *Processor) ShouldResync(now time.Time) bool {
	needed := false
	for _, l := range p.listeners {
		l.syncing = l.resyncPeriod != 0 && !now.Before(l.nextResync)
		if l.syncing {
			needed = true
			l.nextResync = now.Add(l.resyncPeriod)
		}
	}
	return needed
}
