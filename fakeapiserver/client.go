package fakeapiserver

import (
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"

	"fmt"
	"sort"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

// ReqID names a request among those of its client. Ids count from 1; 0 is none.
type ReqID uint32

// Client sends requests to the cluster. It is the actor "conn/NAME". Every request is admitted by one choice and answered by
// another, and every watch frame is delivered by one, so that all of them interleave.
type Client struct {
	cluster *Cluster
	name    string
	id      sim.ActorID
	policy  Policy
	stream  *sim.Stream
	last    ReqID
	calls   []*call // in flight, watches included, in the order of their ids
	recent  *call   // the last one found
	faults  faultOffers
	// overtaken are the objects of which a write of this client's was overtaken.
	overtaken map[*store.Entry]*overtakes

	selectors selectors // of its last request
}

// Name returns "conn/NAME".
func (cl *Client) Name() string { return cl.name }

// InFlight returns the number of unfinished requests and watches.
func (cl *Client) InFlight() int { return len(cl.calls) }

// List requests the objects of a resource, in one namespace if namespace is not empty. OnList receives the answer.
func (cl *Client) List(res store.ResourceID, namespace string, o metav1.ListOptions, r Receiver) ReqID {
	return cl.submit(&call{verb: verbList, res: res, namespace: namespace, options: o, receiver: r})
}

// noResource is the resource of a request that asks for none: no resource has that id.
const noResource = ^store.ResourceID(0)

// Get requests one object, as a list of one, and is hit by the faults of lists. With a resourceVersion it waits for the same freshness; without
// one it is answered by the Store, and so it is while the watch cache is being filled. note is as a Write's Note.
func (cl *Client) Get(res store.ResourceID, namespace, name, resourceVersion, note string, r Receiver) ReqID {
	o := metav1.ListOptions{ResourceVersion: resourceVersion, FieldSelector: "metadata.name=" + fields.EscapeValue(name)}
	return cl.submit(&call{verb: verbList, single: true, res: res, namespace: namespace, options: o, note: note, receiver: r})
}

// Watch requests the changes of a resource. OnWatchOpened or OnWatchOpenError is called first, then OnEvent for each frame,
// then OnWatchClosed.
func (cl *Client) Watch(res store.ResourceID, namespace string, o metav1.ListOptions, r Receiver) ReqID {
	return cl.submit(&call{verb: verbWatch, res: res, namespace: namespace, options: o, receiver: r})
}

// Write requests a change. OnWrite receives the answer.
func (cl *Client) Write(w Write, r Receiver) ReqID {
	if w.Path != "" {
		w.Resource = noResource
	}
	return cl.submit(&call{verb: verbWrite, res: w.Resource, namespace: w.Namespace, write: &w, note: w.Note, receiver: r})
}

// Cancel ends a request: its receiver is not called again. Effects that the server has committed remain. Canceling a
// finished request is a no-op.
func (cl *Client) Cancel(id ReqID) {
	c := cl.find(id)
	if c == nil {
		return
	}
	if c.watch != nil {
		c.watch.canceled()
	}
	c.finish()
}

func (cl *Client) submit(c *call) ReqID {
	cl.last++
	c.id, c.client, c.state = cl.last, cl, stateSubmitted
	cl.calls = append(cl.calls, c)
	r := cl.cluster.kernel.Record(cl.id, KindRequest)
	if a := c.asked(); a != nil {
		r.Obj = a
	}
	r.N, r.Detail, r.Note = int64(c.id), c.describe(), c.note
	if res := cl.cluster.store.Resource(c.res); res != nil {
		r.Key = res.Plural
	}
	cl.cluster.kernel.Emit(r)
	c.offer(KindAdmit)
	cl.cluster.arm(c)
	c.triggerByRequest()
	cl.offerFaults()
	return c.id
}

// find returns the request with that id, nil if it is finished.
func (cl *Client) find(id ReqID) *call {
	if c := cl.recent; c != nil && c.id == id && c.state != stateFinished {
		return c
	}
	i := sort.Search(len(cl.calls), func(i int) bool { return cl.calls[i].id >= id })
	if i == len(cl.calls) || cl.calls[i].id != id {
		return nil
	}
	cl.recent = cl.calls[i]
	return cl.recent
}

func (cl *Client) remove(c *call) {
	i := sort.Search(len(cl.calls), func(i int) bool { return cl.calls[i].id >= c.id })
	if i < len(cl.calls) && cl.calls[i] == c {
		copy(cl.calls[i:], cl.calls[i+1:])
		cl.calls[len(cl.calls)-1] = nil
		cl.calls = cl.calls[:len(cl.calls)-1]
	}
	if cl.recent == c {
		cl.recent = nil
	}
}

// Apply carries out a choice: it admits a request, delivers an answer or a frame, or applies a fault.
func (cl *Client) Apply(ch sim.Choice) {
	if ch.Kind != KindDeliver && ch.Kind != KindAdmit && ch.Kind != KindRespond {
		cl.faults.applied(ch)
		cl.cluster.drawFault(ch.Kind, cl.name)
		return
	}
	c := cl.find(ReqID(ch.Target))
	if c == nil {
		panic(fmt.Sprintf("fakeapiserver: %s was chosen for request %d, which is finished", ch.Kind, ch.Target))
	}
	c.offered = false
	switch ch.Kind {
	case KindAdmit:
		c.admit()
	case KindRespond:
		c.respond()
	case KindDeliver:
		c.watch.deliver()
	}
}

// pickReplica returns the replica that serves the client's next request.
func (cl *Client) pickReplica() *Replica {
	n := len(cl.cluster.replicas)
	switch {
	case cl.policy.spread == spreadRoundRobin:
		cl.cluster.nextRR++
		return cl.cluster.replicas[(cl.cluster.nextRR-1)%n]
	case cl.policy.spread == spreadChoice && n > 1:
		return cl.cluster.replicas[cl.stream.IntN(n)]
	}
	return cl.cluster.replicas[cl.policy.replica]
}

// offerFaults offers the enabled faults that can hit the client's requests and watches now.
func (cl *Client) offerFaults() {
	enabled := cl.cluster.enabled &^ (fault.At(fault.OnStore) | fault.At(fault.OnReplica))
	if enabled == 0 && cl.faults.offered == 0 {
		return
	}
	want := fault.Set(0)
	for _, c := range cl.calls {
		if want |= c.drawableFaults(); want&enabled == enabled {
			break
		}
	}
	cl.faults.set(cl.cluster.kernel, cl.id, want&enabled)
}
