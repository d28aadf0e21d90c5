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
	Faults []fault.Kind
	// MaxFaults is how many of those happen at most; 0 for no limit.
	MaxFaults int
	// CompactEvery is the virtual time between the compactions of the Store that happen by themselves; each keeps as much
	// history as the one before left. The real server does it every 5 minutes; 0 means never.
	CompactEvery time.Duration
}

// Cluster is a Store, its Replicas and their Clients. It is the actor "cluster".
type Cluster struct {
	kernel       *sim.Kernel
	options      ClusterOptions
	id           sim.ActorID
	store        *store.Store
	replicas     []*Replica
	clients      []*Client
	byName       map[string]*Client
	nextRR       int
	enabled      fault.Set
	armed        []*armedFault
	triggers     []*armedTrigger
	stops        int // how often the faults were stopped
	faults       faultOffers
	onCommit     []func(store.ResourceID, store.Committed)
	onRestore    []func()
	chosenFaults int // how many faults were chosen
	// leaderless is how many losses of the Store's leader are not over, serving the replica whose request is served now.
	leaderless     int
	serving        *Replica
	nextCompaction int64 // the revision at the last periodic compaction
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

// Name is "cluster".
func (c *Cluster) Name() string { return "cluster" }

// Apply carries out a fault of the Store.
func (c *Cluster) Apply(ch sim.Choice) {
	c.faults.applied(ch)
	c.drawFault(ch.Kind, c.Name())
}

// Store is the cluster's Store.
func (c *Cluster) Store() *store.Store { return c.store }

// Kernel is the kernel that drives the cluster.
func (c *Cluster) Kernel() *sim.Kernel { return c.kernel }

// Now is the time as the replica that is serving a request has it; the virtual time if none is.
func (c *Cluster) Now() time.Time {
	now := c.kernel.Clock().Now()
	if c.serving != nil {
		now = now.Add(c.serving.skew)
	}
	return now
}

// Replicas is the number of replicas.
func (c *Cluster) Replicas() int { return len(c.replicas) }

// Replica is the i-th replica, nil if there is none.
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

// Connect returns the client of that name. A name that is taken gives the client that has it, with the new policy.
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

// Client is the client of that name, nil if there is none.
func (c *Cluster) Client(name string) *Client { return c.byName[name] }

// clientsNamed are the clients that a target means.
func (c *Cluster) clientsNamed(target string) ([]*Client, error) {
	if target == "" {
		return c.clients, nil
	}
	if cl := c.byName[strings.TrimPrefix(target, "conn/")]; cl != nil {
		return []*Client{cl}, nil
	}
	return nil, fmt.Errorf("there is no client %q to hit", target)
}

// resetConnections breaks every connection to a replica.
func (c *Cluster) resetConnections(r *Replica) {
	for _, cl := range c.clients {
		// The receivers are told later, by choices, so the list does not change meanwhile.
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

// AddResource adds a resource to the Store and to every replica, whose watch caches of it are ready at once.
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

// Reopen closes the watches of a resource and begins its watch caches anew, as a server does whose definition of the resource
// has changed: what was before cannot be watched any more.
func (c *Cluster) Reopen(id store.ResourceID) {
	for _, r := range c.replicas {
		if int(id) < len(r.caches) {
			r.caches[id].reinitialise()
		}
	}
}

// FindResource is the resource of that group and plural name.
func (c *Cluster) FindResource(gr schema.GroupResource) (store.ResourceID, bool) {
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

func (c *Cluster) resource(id store.ResourceID) (*store.Resource, error) {
	r := c.store.Resource(id)
	if r == nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("there is no resource %d", id))
	}
	return r, nil
}

// OnCommit has f called for every write from now on, inside the step that makes it. f may not write itself; what it makes of
// the write is for later steps.
func (c *Cluster) OnCommit(f func(store.ResourceID, store.Committed)) {
	c.onCommit = append(c.onCommit, f)
}

// OnRestore has f called after every restore of the Store from now on, inside the step that makes it.
func (c *Cluster) OnRestore(f func()) { c.onRestore = append(c.onRestore, f) }
