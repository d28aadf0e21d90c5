package fakeapiserver

import (
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"

	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// DefaultHistory is the default number of events of a resource that a watch cache retains.
const DefaultHistory = 1000

// ClusterOptions configure a Cluster. The zero value works: one replica, no faults.
type ClusterOptions struct {
	// Replicas is the number of apiservers, 1 if not positive.
	Replicas int
	// History is the number of events of each resource that a watch cache retains: DefaultHistory if 0, or AdaptiveHistory (I110).
	History int64
	// FirstRevision is the revision of the first write, DefaultFirstRevision if not positive.
	FirstRevision int64
	// Faults are the kinds of faults offered to the strategy as choices. Scripts may inject any kind regardless.
	Faults []fault.Kind
	// MaxFaults limits how many of those happen; 0 for no limit.
	MaxFaults int
	// NoWatchList refuses streaming lists, watches with sendInitialEvents, with a 422, as a server does whose feature gate WatchList
	// is off: that is the default in Kubernetes 1.33 and up to 1.31. Clients then list instead.
	NoWatchList bool
	// CompactEvery is the virtual time between periodic compactions of the Store. Each compacts to the revision at the one
	// before, as the real server does every 5 minutes; 0 means never.
	CompactEvery time.Duration
	// Progress keeps the faults that the strategy picks from stopping anything for good, however often they may happen: a request is slow once; a
	// watch, a replica or the Store that has been held up, restarted or restored gets something done before the same happens to it again.
	Progress bool
}

// Cluster is a Store, its Replicas and their Clients. It is the actor "cluster".
type Cluster struct {
	kernel         *sim.Kernel
	options        ClusterOptions
	id             sim.ActorID
	store          *store.Store
	replicas       []*Replica
	clients        []*Client
	byName         map[string]*Client
	aliases        map[schema.GroupResource]store.ResourceID
	nextRR         int
	enabled        fault.Set
	armed          []*armedFault
	triggers       []*armedTrigger
	scheduled      []*scheduledFault
	lastOrder      int // the id of the latest injected fault
	stops          int // how often faults were stopped
	faults         faultOffers
	spent          spent // since the last write
	onCommit       []func(store.ResourceID, store.Committed)
	onRestore      []func()
	distortion     Distortion
	chosenFaults   int           // how many faults the strategy has picked
	leaderless     int           // unfinished losses of the Store's leader
	leaderLost     time.Duration // when the Store lost the leader that it lacks, or lacked last
	leaderKept     time.Duration // the strategy may not take the leader away before
	serving        *call         // the request that a replica is serving
	nextCompaction int64         // what the next periodic compaction compacts to: the revision at the previous one
}

// NewCluster returns a Cluster whose actors are registered with the kernel. Options out of range get their defaults.
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
	c.store = store.New(store.Options{FirstRevision: o.FirstRevision, Seed: k.Seed(), Now: c.Now, Floor: c.floor})
	c.id = k.Register(c)
	for i := range o.Replicas {
		c.replicas = append(c.replicas, newReplica(c, i))
	}
	c.enable(o.Faults)
	if o.CompactEvery > 0 {
		c.nextCompaction = c.store.Revision()
		k.Clock().AfterFunc(o.CompactEvery, c.compactPeriodically)
	}
	return c
}

// Name returns "cluster".
func (c *Cluster) Name() string { return "cluster" }

// Apply applies a fault of the Store.
func (c *Cluster) Apply(ch sim.Choice) {
	c.faults.applied(ch)
	c.drawFault(ch.Kind, c.Name())
}

// Store returns the cluster's Store.
func (c *Cluster) Store() *store.Store { return c.store }

// Kernel returns the kernel that drives the cluster.
func (c *Cluster) Kernel() *sim.Kernel { return c.kernel }

// Now returns the time by the clock of the replica that is serving a request, the virtual time if none is.
func (c *Cluster) Now() time.Time {
	now := c.kernel.Clock().Now()
	if c.serving != nil {
		now = now.Add(c.serving.replica.skew)
	}
	return now
}

// Replicas returns the number of replicas.
func (c *Cluster) Replicas() int { return len(c.replicas) }

// Replica returns the i-th replica, nil if there is none.
func (c *Cluster) Replica(i int) *Replica {
	if i < 0 || i >= len(c.replicas) {
		return nil
	}
	return c.replicas[i]
}

func (c *Cluster) replicaNamed(target string) (*Replica, error) {
	if target == "" {
		return c.replicas[0], nil
	}
	for _, r := range c.replicas {
		if r.name == target || strings.TrimPrefix(r.name, "replica/") == target {
			return r, nil
		}
	}
	return nil, fmt.Errorf("there is no replica %q: there are %d, from replica/0", target, len(c.replicas))
}

// Connect returns the client of that name. An existing client gets the new policy.
func (c *Cluster) Connect(name string, p Policy) *Client {
	if p.replica < 0 || p.replica >= len(c.replicas) {
		p.replica = 0
	}
	if cl := c.byName[name]; cl != nil {
		cl.policy = p
		return cl
	}
	cl := &Client{cluster: c, name: "conn/" + name, policy: p}
	cl.stream = c.kernel.Stream(cl.name + "/replica")
	cl.id = c.kernel.Register(cl)
	c.byName[name] = cl
	c.clients = append(c.clients, cl)
	return cl
}

// Client returns the client of that name, nil if there is none.
func (c *Cluster) Client(name string) *Client { return c.byName[name] }

// clientsNamed returns the clients that a target selects.
func (c *Cluster) clientsNamed(target string) ([]*Client, error) {
	if target == "" {
		return c.clients, nil
	}
	if cl := c.byName[strings.TrimPrefix(target, "conn/")]; cl != nil {
		return []*Client{cl}, nil
	}
	return nil, fmt.Errorf("there is no client %q to hit; %s", target, c.known())
}

// known names the clients that there are. One that is missing may only come later.
func (c *Cluster) known() string {
	const few = 10
	var names []string
	for _, cl := range c.clients[:min(len(c.clients), few)] {
		names = append(names, strings.TrimPrefix(cl.name, "conn/"))
	}
	switch {
	case len(names) == 0:
		return "so far there is none"
	case len(c.clients) > few:
		return fmt.Sprintf("so far there are %s, and %d others", strings.Join(names, ", "), len(c.clients)-few)
	}
	return "so far there are " + strings.Join(names, ", ")
}

// resetConnections breaks every connection to a replica.
func (c *Cluster) resetConnections(r *Replica) {
	for _, cl := range c.clients {
		// Receivers are called later, by choices, so the list does not change meanwhile.
		for _, k := range cl.calls {
			switch {
			case k.replica != r:
			case k.state == stateOpen:
				k.watch.closeWith(closing{err: errReset, why: "replica restarted"})
			case k.state == stateServing || k.state == stateAnswered:
				k.fail(errReset)
			}
		}
		cl.offerFaults()
	}
}

// AddResource adds a resource to the Store and, with a ready watch cache, to every replica.
func (c *Cluster) AddResource(r store.Resource) (store.ResourceID, error) {
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

// Reopen closes the watches of a resource and reinitialises its watch caches, as a server does when its definition of the
// resource changes: earlier revisions can no longer be watched.
func (c *Cluster) Reopen(id store.ResourceID) {
	for _, r := range c.replicas {
		if int(id) < len(r.caches) {
			r.caches[id].reinitialise()
		}
	}
}

// Alias makes a resource known by another group and plural name, too: the objects of both are the same.
func (c *Cluster) Alias(gr schema.GroupResource, id store.ResourceID) {
	if c.aliases == nil {
		c.aliases = map[schema.GroupResource]store.ResourceID{}
	}
	c.aliases[gr] = id
}

// FindResource returns the resource of that group and plural name.
func (c *Cluster) FindResource(gr schema.GroupResource) (store.ResourceID, bool) {
	if id, ok := c.aliases[gr]; ok {
		return id, true
	}
	for id, r := range c.store.Resources() {
		if r.GroupResource() == gr {
			return store.ResourceID(id), true
		}
	}
	return 0, false
}

func (c *Cluster) hasResource(plural string) bool {
	for _, r := range c.store.Resources() {
		if r.Plural == plural {
			return true
		}
	}
	return false
}

// mayAim returns an error if a fault or a trigger cannot be aimed at a resource, which has no group there: those of two groups are hit alike.
func (c *Cluster) mayAim(plural string) error {
	if plural == "" || c.hasResource(plural) {
		return nil
	}
	if alone, _, grouped := strings.Cut(plural, "."); grouped && c.hasResource(alone) {
		return fmt.Errorf("there is no resource %q: name it without its group, %q", plural, alone)
	}
	return fmt.Errorf("there is no resource %q", plural)
}

func (c *Cluster) resource(id store.ResourceID) (*store.Resource, error) {
	r := c.store.Resource(id)
	if r == nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("there is no resource %d", id))
	}
	return r, nil
}

// OnCommit registers f to be called for every write, inside the step that commits it. f must not write; it may react in a
// later step.
func (c *Cluster) OnCommit(f func(store.ResourceID, store.Committed)) {
	c.onCommit = append(c.onCommit, f)
}

// OnRestore registers f to be called after every restore of the Store, inside the same step.
func (c *Cluster) OnRestore(f func()) { c.onRestore = append(c.onRestore, f) }
