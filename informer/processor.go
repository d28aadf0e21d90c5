package informer

import (
	"errors"
	"slices"
	"time"

	"k8s.io/client-go/tools/cache"
)

// ErrStopped is the error of operations that a stopped informer no longer supports (I73, I80).
var ErrStopped = errors.New("the informer has already stopped: create a new one")

// minResyncPeriod is the shortest resync period a listener can have (I78).
const minResyncPeriod = time.Second

// Processor distributes notifications to the listeners of one informer (I75 to I86). It is not safe for concurrent use. The
// zero value has no listeners, no resync, and is not started.
type Processor struct {
	// ResyncCheckPeriod is how often the Reflector asks ShouldResync, 0 for never. Listeners added before Start lower it to
	// their own period; later ones have theirs raised to it (I78).
	ResyncCheckPeriod time.Duration
	// DefaultResyncPeriod applies to listeners that specify none.
	DefaultResyncPeriod time.Duration
	// UpstreamHasSynced reports whether the informer has synced: a listener's HasSynced builds on it (I86). nil means
	// never.
	UpstreamHasSynced func() bool

	listeners []*Listener // in the order added
	nextID    int
	started   bool
	stopped   bool
}

// ListenerOptions configures a Listener. The zero value takes the Processor's default resync period.
type ListenerOptions struct {
	// Name appears in messages.
	Name string
	// ResyncPeriod is the interval of full resyncs. nil means Processor.DefaultResyncPeriod, 0 means never.
	ResyncPeriod *time.Duration
}

// AddListener registers a handler as of now. A listener counts as syncing until the first ShouldResync (I76). If the
// processor has started, replay must be the store's content: the listener receives it as adds of the initial list (I79). It
// fails with ErrStopped after Stop (I80).
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
			key, _ := queueKey(MetaNamespaceKey, obj) // for display: objects without a key are replayed too
			l.add(&Notification{Type: NotifyAdd, Key: key, New: obj, IsInInitialList: true})
		}
	}
	return l, nil
}

// adoptResyncPeriod applies the minimum and reconciles the listener's period with the check period (I78).
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

// effectiveResyncPeriod returns 0 if no resync is requested or possible, and never less than the check period (I78).
func effectiveResyncPeriod(requested, check time.Duration) time.Duration {
	if requested == 0 || check == 0 {
		return 0
	}
	return max(requested, check)
}

// RemoveListener removes l: it receives nothing more, and its pending notifications are dropped. A call in flight continues
// until its Finish (I81). Removing a listener twice, or one of another processor, is a no-op.
func (p *Processor) RemoveListener(l *Listener) {
	i := slices.Index(p.listeners, l)
	if i < 0 {
		return
	}
	p.listeners = slices.Delete(p.listeners, i, i+1)
	l.drop()
}

// Listeners returns the registered listeners in the order they were added. The slice belongs to the Processor.
func (p *Processor) Listeners() []*Listener { return p.listeners }

// Start lets notifications through. Until then a Controller with listeners must not be stepped: in client-go its goroutine
// waits (I83). Notifications distributed earlier anyway are kept.
func (p *Processor) Start() { p.started = true }

// Started reports whether Start was called and Stop was not.
func (p *Processor) Started() bool { return p.started && !p.stopped }

// AwaitsStart reports whether the Controller has to wait for Start (I83).
func (p *Processor) AwaitsStart() bool { return !p.started && !p.stopped && len(p.listeners) > 0 }

// Stop ends all listeners: their pending notifications are dropped, calls in flight continue until their Finish. Call it
// after the Controller's last step (I88).
func (p *Processor) Stop() {
	p.stopped = true
	for _, l := range p.listeners {
		l.drop()
	}
	p.listeners = nil
}

// Stopped reports whether Stop was called.
func (p *Processor) Stopped() bool { return p.stopped }

// Distribute passes n to every listener, or to the syncing ones only if it is an update with an unchanged resourceVersion
// (I75).
func (p *Processor) Distribute(n Notification) {
	isSync := n.IsSync()
	for _, l := range p.listeners {
		if !isSync || l.syncing {
			l.add(&n)
		}
	}
}

// ShouldResync recomputes which listeners are syncing, schedules their next resync, and reports whether there is one (I77).
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
