package fakeapiserver

import (
	"fmt"
	"time"

	"github.com/informersim/informersim/sim"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The kinds of choices.
var (
	KindApply   = sim.RegisterKind("apply", sim.ClassAction)   // a replica applies an event of a resource; also a record
	KindInit    = sim.RegisterKind("init", sim.ClassAction)    // a replica initialises the watch cache of a resource
	KindAdmit   = sim.RegisterKind("admit", sim.ClassAction)   // a request reaches its replica
	KindRespond = sim.RegisterKind("respond", sim.ClassAction) // an answer reaches its client
	KindDeliver = sim.RegisterKind("deliver", sim.ClassAction) // a watch frame reaches its client
)

// The kinds of records.
var (
	// KindCommit is a write: Key is "<plural> <key>", RV its revision, Detail ADDED, MODIFIED or DELETED; Obj, Old.
	KindCommit = sim.RegisterKind("commit", sim.ClassRecord)
	// KindRequest is a request made by a client: N is its id, Detail the verb and its options.
	KindRequest = sim.RegisterKind("request", sim.ClassRecord)
	// KindResponse is an answer that reached its client: N is the request's id, Detail "ok" or the error.
	KindResponse = sim.RegisterKind("response", sim.ClassRecord)
	// KindPage is a list, or a page of one, that reached its client: RV its resourceVersion, N the number of items.
	KindPage = sim.RegisterKind("page", sim.ClassRecord)
	// KindFrame is a watch event that reached its client: Key, RV, N the request's id, Detail the event's type; Obj.
	KindFrame = sim.RegisterKind("frame", sim.ClassRecord)
	// KindWatchClosed is the end of a watch: N is the request's id, Detail why.
	KindWatchClosed = sim.RegisterKind("watch-closed", sim.ClassRecord)
	// KindFault is a fault that happened: Key is what it hit, Detail its name.
	KindFault = sim.RegisterKind("fault", sim.ClassRecord)
	// KindCompact is a compaction: RV is the oldest revision that is left.
	KindCompact = sim.RegisterKind("compacted", sim.ClassRecord)
	// KindRestore is a restore of the Store: RV is the revision it is at afterwards.
	KindRestore = sim.RegisterKind("restored", sim.ClassRecord)
)

// DefaultHistory is how many events of a resource a watch cache keeps unless told otherwise.
const DefaultHistory = 1000

// ClusterOptions configure a Cluster. The zero value works: one replica, no faults.
type ClusterOptions struct {
	// Replicas is the number of apiservers, 1 if not positive.
	Replicas int
	// History is how many events of each resource a watch cache keeps: DefaultHistory if 0, or AdaptiveHistory (I110).
	History int64
	// FirstRevision is the revision of the first write, DefaultFirstRevision if not positive.
	FirstRevision int64
	// Faults are the kinds of faults that are offered to the strategy as choices. Scripts may inject any, whatever this says.
	Faults []FaultKind
	// MaxFaults is how many of those happen at most; 0 for no limit.
	MaxFaults int
	// CompactEvery is the virtual time between the compactions of the Store that happen by themselves; each keeps as much
	// history as the one before left. The real server does it every 5 minutes; 0 means never.
	CompactEvery time.Duration
}

// Cluster is a Store, its Replicas and their Clients. It is the actor "cluster".
type Cluster struct {
	kernel    *sim.Kernel
	options   ClusterOptions
	id        sim.ActorID
	store     *Store
	replicas  []*Replica
	clients   []*Client
	byName    map[string]*Client
	nextRR    int
	enabled   faultMask
	armed     []*armedFault
	triggers  []*armedTrigger
	stops     int // how often the faults were stopped
	faults    faultSet
	onCommit  []func(ResourceID, Committed)
	onRestore []func()
	struck    int // how many faults were chosen
	// leaderless is how many losses of the Store's leader are not over, serving the replica whose request is served now.
	leaderless int
	serving    *Replica
	mark       int64 // the revision at the last periodic compaction
}

// NewCluster returns a Cluster whose actors are registered with the kernel. Options out of range mean their defaults.
func NewCluster(k *sim.Kernel, o ClusterOptions) *Cluster {
	if o.Replicas <= 0 {
		o.Replicas = 1
	}
	if o.History <= 0 && o.History != AdaptiveHistory {
		o.History = DefaultHistory
	}
	c := &Cluster{
		kernel: k, options: o, byName: map[string]*Client{},
	}
	c.store = NewStore(StoreOptions{FirstRevision: o.FirstRevision, Seed: k.Seed(), Now: c.Now})
	c.store.floor = c.floor
	c.id = k.Register(c)
	for i := range o.Replicas {
		c.replicas = append(c.replicas, newReplica(c, i))
	}
	c.enable(o.Faults)
	if o.CompactEvery > 0 {
		c.mark = c.store.revision
		k.Clock().AfterFunc(o.CompactEvery, c.compactPeriodically)
	}
	return c
}

// Name is "cluster".
func (c *Cluster) Name() string { return "cluster" }

// Apply carries out a fault of the Store.
func (c *Cluster) Apply(ch sim.Choice) {
	c.faults.applied(ch)
	c.drawFault(ch.Kind, c.Name())
}

// Store is the cluster's Store.
func (c *Cluster) Store() *Store { return c.store }

// Kernel is the kernel that drives the cluster.
func (c *Cluster) Kernel() *sim.Kernel { return c.kernel }

// Replicas is the number of replicas.
func (c *Cluster) Replicas() int { return len(c.replicas) }

// Replica is the i-th replica, nil if there is none.
func (c *Cluster) Replica(i int) *Replica {
	if i < 0 || i >= len(c.replicas) {
		return nil
	}
	return c.replicas[i]
}

// AddResource adds a resource to the Store and to every replica, whose watch caches of it are ready at once.
func (c *Cluster) AddResource(r Resource) (ResourceID, error) {
	id, err := c.store.AddResource(r)
	if err != nil {
		return 0, err
	}
	for _, rep := range c.replicas {
		rep.addResource(id)
	}
	c.offerStoreFaults()
	return id, nil
}

// Reopen closes the watches of a resource and begins its watch caches anew, as a server does whose definition of the resource
// has changed: what was before cannot be watched any more.
func (c *Cluster) Reopen(id ResourceID) {
	for _, r := range c.replicas {
		if int(id) < len(r.caches) {
			r.caches[id].reinitialise()
		}
	}
}

// FindResource is the resource of that group and plural name.
func (c *Cluster) FindResource(gr schema.GroupResource) (ResourceID, bool) {
	for id, r := range c.store.resources {
		if r.GroupResource() == gr {
			return ResourceID(id), true
		}
	}
	return 0, false
}

func (c *Cluster) floor(id ResourceID) int64 {
	low := c.store.revision
	for _, r := range c.replicas {
		if int(id) >= len(r.caches) {
			continue
		}
		if cache := r.caches[id]; cache.ready && cache.view == c.store.timelines[id] {
			low = min(low, cache.low())
		} else if cache.ready {
			low = min(low, cache.followed())
		}
	}
	return low
}

// followed is the revision up to which a detached cache has read the Store's timeline.
func (c *watchCache) followed() int64 {
	if c.sourcePos < c.source.log.end() {
		return c.source.log.at(c.sourcePos).rev - 1
	}
	return c.replica.cluster.store.revision
}

// OnCommit has f called for every write from now on, inside the step that makes it. f may not write itself; what it makes of
// the write is for later steps.
func (c *Cluster) OnCommit(f func(ResourceID, Committed)) { c.onCommit = append(c.onCommit, f) }

// OnRestore has f called after every restore of the Store from now on, inside the step that makes it.
func (c *Cluster) OnRestore(f func()) { c.onRestore = append(c.onRestore, f) }

// committed tells the world of a write.
func (c *Cluster) committed(id ResourceID, v *version) {
	r := c.kernel.Record(c.id, KindCommit)
	r.Key, r.RV, r.Detail, r.Obj = v.entry.display, v.rev, string(v.event()), v.obj
	if old := v.before(); old != nil {
		r.Old = old.obj
	}
	c.kernel.Emit(r)
	for _, rep := range c.replicas {
		rep.caches[id].offer()
	}
	for _, f := range c.onCommit {
		var done Committed
		done.from(v)
		f(id, done)
	}
	if c.enabled != 0 {
		c.offerStoreFaults()
	}
	if len(c.triggers) > 0 {
		c.happened(TriggerCommit, nil, id, v.entry.key, string(v.event()))
	}
}

func (c *Cluster) resource(id ResourceID) (*Resource, *timeline, error) {
	r := c.store.Resource(id)
	if r == nil {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("there is no resource %d", id))
	}
	return r, c.store.timelines[id], nil
}

func (c *Cluster) target(id ResourceID, obj runtime.Object) (*Resource, *timeline, metav1.Object, *entry, error) {
	r, t, err := c.resource(id)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	m, err := objectMeta(obj)
	if err != nil {
		return nil, nil, nil, nil, apierrors.NewBadRequest(err.Error())
	}
	return r, t, m, t.find(m.GetNamespace(), m.GetName()), nil
}

func (e *entry) exists() bool { return e != nil && e.newest != nil && !e.newest.deleted }

// Create commits a new object, which belongs to the Store from then on. It fails with AlreadyExists or BadRequest.
func (c *Cluster) Create(id ResourceID, obj runtime.Object) (runtime.Object, error) {
	r, t, m, e, err := c.target(id, obj)
	if err != nil {
		return nil, err
	}
	if e.exists() {
		return nil, apierrors.NewAlreadyExists(r.GroupResource(), m.GetName())
	}
	if e == nil {
		if err := c.store.check(id, m.GetNamespace(), m.GetName()); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		e = t.add(t.key(m))
	}
	v := c.store.put(t, e, obj, m)
	c.committed(id, v)
	return v.obj, nil
}

// Update commits a new state of an object, which belongs to the Store from then on. A resourceVersion in it must be the
// current one (409 Conflict); without one it wins. uid and creationTimestamp are kept. It fails with NotFound, Conflict or
// BadRequest.
func (c *Cluster) Update(id ResourceID, obj runtime.Object) (runtime.Object, error) {
	r, t, m, e, err := c.target(id, obj)
	if err != nil {
		return nil, err
	}
	if !e.exists() {
		return nil, apierrors.NewNotFound(r.GroupResource(), m.GetName())
	}
	old, err := objectMeta(e.newest.obj)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if dataOf(e.newest.obj) == dataOf(obj) {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s is the committed object itself: change a copy", e.display))
	}
	if rv := m.GetResourceVersion(); rv != "" && rv != old.GetResourceVersion() {
		return nil, errConflict(r, m.GetName())
	}
	m.SetUID(old.GetUID())
	m.SetCreationTimestamp(old.GetCreationTimestamp())
	v := c.store.put(t, e, obj, m)
	c.committed(id, v)
	return v.obj, nil
}

func errConflict(r *Resource, name string) error {
	return apierrors.NewConflict(r.GroupResource(), name,
		fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again"))
}

// Delete commits the deletion of an object and returns its last state. It fails with NotFound, or with Conflict if a
// precondition does not hold.
func (c *Cluster) Delete(id ResourceID, namespace, name string, pre *metav1.Preconditions) (runtime.Object, error) {
	r, t, err := c.resource(id)
	if err != nil {
		return nil, err
	}
	e := t.find(namespace, name)
	if !e.exists() {
		return nil, apierrors.NewNotFound(r.GroupResource(), name)
	}
	old, err := objectMeta(e.newest.obj)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if pre != nil {
		if pre.UID != nil && *pre.UID != old.GetUID() {
			return nil, apierrors.NewConflict(r.GroupResource(), name, fmt.Errorf(
				"Precondition failed: UID in precondition: %v, UID in object meta: %v", *pre.UID, old.GetUID()))
		}
		if pre.ResourceVersion != nil && *pre.ResourceVersion != old.GetResourceVersion() {
			return nil, apierrors.NewConflict(r.GroupResource(), name, fmt.Errorf(
				"Precondition failed: ResourceVersion in precondition: %v, ResourceVersion in object meta: %v", *pre.ResourceVersion, old.GetResourceVersion()))
		}
	}
	v := c.store.remove(t, e, e.newest.obj)
	c.committed(id, v)
	return v.obj, nil
}

// SkipTo makes the next write have revision rev; see Store.SkipTo.
func (c *Cluster) SkipTo(rev int64) error { return c.store.SkipTo(rev) }

// Compact forgets every version before rev, in the Store and in every watch cache: lists at older revisions and watches
// from there get 410. rev ≤ 0 means the current revision.
func (c *Cluster) Compact(rev int64) error {
	if err := c.CompactStore(rev); err != nil {
		return err
	}
	for _, r := range c.replicas {
		for _, cache := range r.caches {
			if cache.ready {
				cache.compact(c.store.compacted)
			}
		}
	}
	return nil
}

// compactionNoticed is how long it takes a watch cache, at most, to notice that the Store was compacted: the real one looks
// every 15 seconds.
const compactionNoticed = 15 * time.Second

// CompactStore forgets every version before rev in the Store alone. What watch caches hold is still served (S11): exact
// revisions until the caches notice, events for as long as their windows have them.
func (c *Cluster) CompactStore(rev int64) error {
	if rev <= 0 {
		rev = c.store.revision
	}
	if err := c.store.Compact(rev); err != nil {
		return err
	}
	r := c.kernel.Record(c.id, KindCompact)
	r.RV = c.store.compacted
	c.kernel.Emit(r)
	c.offerStoreFaults()
	compacted := c.store.compacted
	c.kernel.Clock().AfterFunc(compactionNoticed, func() {
		for _, r := range c.replicas {
			for _, cache := range r.caches {
				cache.followCompaction(compacted)
			}
		}
	})
	return nil
}

// compactPeriodically compacts to where the Store was the last time.
func (c *Cluster) compactPeriodically() {
	if c.mark > c.store.compacted && c.mark <= c.store.revision {
		if err := c.CompactStore(c.mark); err != nil {
			c.kernel.Fail(err)
			return
		}
	}
	c.mark = c.store.revision
	c.kernel.Clock().AfterFunc(c.options.CompactEvery, c.compactPeriodically)
}

// Restore puts the Store back to an older revision; see Store.Restore. Without a bump replicas notice nothing: they go on
// serving what they hold, and miss writes until the revision is past what they have seen (k107457). With a bump they find
// their position compacted, and initialise anew.
func (c *Cluster) Restore(rev, bump int64) error {
	if err := c.store.Restore(rev, bump); err != nil {
		return err
	}
	r := c.kernel.Record(c.id, KindRestore)
	r.RV = c.store.revision
	c.kernel.Emit(r)
	for _, f := range c.onRestore {
		f()
	}
	c.offerStoreFaults()
	for _, rep := range c.replicas {
		if bump > 0 {
			rep.reinitialise()
			continue
		}
		for _, cache := range rep.caches {
			cache.detach()
		}
	}
	return nil
}
