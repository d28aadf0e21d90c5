package fakeapiserver

import (
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"

	"errors"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

type verb uint8

const (
	verbList verb = iota
	verbWatch
	verbWrite
)

// callState is the progress of a request.
type callState uint8

const (
	stateSubmitted callState = iota // sent; no replica has it
	stateServing                    // admitted; the replica waits for its watch cache
	stateAnswered                   // the answer is in flight
	stateOpen                       // an open watch
	stateFinished
)

// call is a request in flight.
type call struct {
	id        ReqID
	client    *Client
	verb      verb
	single    bool // a list of one object: a get
	state     callState
	res       store.ResourceID
	namespace string
	options   metav1.ListOptions
	write     *Write // nil for a read
	note      string // of its record
	asks      Asked  // of a read that is not a get
	receiver  Receiver
	replica   *Replica // serves it, from admission on

	choice  sim.Choice // offered for it
	offered bool
	wait    *waiter

	// The answer, once there is one.
	page  *Page
	obj   runtime.Object
	err   error
	watch *stream
	fault *fault.Fault // what will go wrong with it
	spent spent        // a watch: since it last had nothing left to deliver
	// admitting is set during admission, when faults that precede serving can still hit the request.
	admitting bool
	// heldBack is set once the request has been kept from its replica.
	heldBack bool
}

func (c *call) kernel() *sim.Kernel { return c.client.cluster.kernel }

func (c *call) offer(kind sim.Kind) {
	if c.offered {
		return
	}
	c.choice = c.kernel().Offer(c.client.id, kind, uint32(c.id))
	c.offered = true
}

func (c *call) withdraw() {
	if c.offered {
		c.kernel().Withdraw(c.choice)
		c.offered = false
	}
}

// finish forgets the request.
func (c *call) finish() {
	if c.state == stateFinished {
		return
	}
	c.withdraw()
	c.wait.stop()
	c.wait = nil
	c.state = stateFinished
	c.client.remove(c)
	c.client.offerFaults()
}

// admit hands the request to a replica.
func (c *call) admit() {
	cl := c.client
	c.replica = cl.pickReplica()
	c.state = stateServing
	defer cl.offerFaults()
	if len(cl.cluster.armed) > 0 && c.fault == nil {
		c.admitting = true
		cl.cluster.arm(c)
		c.admitting = false
	}
	if c.applyRequestFault() {
		return
	}
	if c.res != noResource {
		if _, err := cl.cluster.resource(c.res); err != nil {
			c.answer(err)
			return
		}
	}
	switch c.verb {
	case verbList:
		c.serveList()
	case verbWatch:
		c.serveWatch()
	case verbWrite:
		c.answer(c.serve(func() (err error) {
			c.obj, err = cl.cluster.execute(*c.write)
			c.through()
			return err
		}))
	}
}

// serve runs serve as the request's replica: by its clock, and only while the Store has a leader.
func (c *call) serve(serve func() error) error {
	cluster := c.client.cluster
	if cluster.leaderless > 0 {
		return errNoLeader()
	}
	if cluster.serving != nil {
		return errors.New("fakeapiserver: another request is being served: Write.Serve must not step the kernel")
	}
	cluster.serving = c
	defer func() { cluster.serving = nil }()
	return serve()
}

// answer ends the serving of the request and lets its answer reach the client.
func (c *call) answer(err error) {
	c.err = err
	c.wait = nil
	c.state = stateAnswered
	if c.answerDelayed() {
		c.delayAnswer()
	} else {
		c.offer(KindRespond)
	}
	c.client.offerFaults()
}

// respond delivers the answer to the client.
func (c *call) respond() {
	c.applyAnswerFault()
	if c.replica != nil && c.err == nil {
		c.replica.progressed()
	}
	switch c.verb {
	case verbList:
		if f := c.client.cluster.distortion.Page; f != nil && c.page != nil {
			f(c.page)
		}
		c.preparePage()
		c.emitPage()
		c.finish()
		c.receiver.OnList(c.id, c.page, c.err)
	case verbWatch:
		c.emitResponse()
		if c.err != nil {
			c.finish()
			c.receiver.OnWatchOpenError(c.id, c.err)
			return
		}
		c.state, c.fault = stateOpen, nil
		c.client.cluster.arm(c)
		c.client.offerFaults()
		c.receiver.OnWatchOpened(c.id)
		c.watch.opened()
	case verbWrite:
		c.emitResponse()
		c.finish()
		c.receiver.OnWrite(c.id, c.obj, c.err)
	}
}

// preparePage makes a page that cannot be sent an error.
func (c *call) preparePage() {
	if p, ok := c.receiver.(Preparer); ok && c.err == nil && c.page != nil {
		if err := p.PreparePage(c.page); err != nil {
			c.page, c.err = nil, err
		}
	}
}

// fail breaks the request's connection, with the error that the client sees.
func (c *call) fail(err error) {
	c.withdraw()
	if c.watch != nil {
		c.watch.detach()
	}
	c.wait.stop()
	c.page, c.obj, c.watch, c.fault = nil, nil, nil, nil
	c.answer(err)
}

// verbName returns the request's verb as faults name it.
func (c *call) verbName() string {
	switch {
	case c.single:
		return "get"
	case c.verb == verbList:
		return "list"
	case c.verb == verbWatch:
		return "watch"
	}
	return string(c.write.Verb)
}

// objectName returns the namespace and the name of the request's object, "" where the request leaves them open.
func (c *call) objectName() (namespace, name string) {
	if c.verb == verbWrite {
		if m, err := store.Meta(c.write.Object); err == nil {
			return m.GetNamespace(), m.GetName()
		}
		if c.write.Name == "" && c.write.Named != nil {
			return c.write.Namespace, c.write.Named()
		}
		return c.write.Namespace, c.write.Name
	}
	if rest, ok := strings.CutPrefix(c.options.FieldSelector, "metadata.name="); ok {
		name, _, _ = strings.Cut(rest, ",")
	}
	return c.namespace, name
}

func (c *call) emitResponse() {
	r := c.kernel().Record(c.client.id, KindResponse)
	r.N, r.Detail = int64(c.id), "ok"
	if c.err != nil {
		r.Detail = c.err.Error()
	}
	if a := c.answered(); a != "" {
		r.Detail = a
	}
	if r.Obj = c.obj; c.err != nil {
		r.Obj = c.err
	}
	c.kernel().Emit(r)
}

func (c *call) emitPage() {
	if c.err != nil {
		c.emitResponse()
		return
	}
	r := c.kernel().Record(c.client.id, KindPage)
	r.RV, r.N, r.Obj = c.page.Revision, int64(len(c.page.Items)), c.page
	r.Detail = "request=" + strconv.Itoa(int(c.id))
	if c.page.Continue != "" {
		r.Detail += " more"
	}
	if a := c.answered(); a != "" {
		r.Detail += " " + a
	}
	c.kernel().Emit(r)
}

// answered is what the receiver answers, "" if it makes no answers of its own.
func (c *call) answered() string {
	if a, ok := c.receiver.(Answerer); ok {
		return a.Answered(c.page, c.err)
	}
	return ""
}

// describe prints the request for its record, once it is known what it asks for.
func (c *call) describe() string {
	switch {
	case c.verb == verbWrite:
		return c.write.describe()
	case c.single:
		return c.describeGet()
	}
	b := make([]byte, 0, 96)
	b = append(b, "list"...)
	if c.verb == verbWatch {
		b = append(b[:0], "watch"...)
	}
	o := &c.options
	for _, p := range [...]struct{ name, value string }{
		{"namespace", c.namespace}, {"labels", o.LabelSelector}, {"fields", o.FieldSelector},
		{"match", string(o.ResourceVersionMatch)}, {"continue", c.asks.Continue},
	} {
		if p.value != "" {
			b = append(append(append(append(b, ' '), p.name...), '='), p.value...)
		}
	}
	b = strconv.AppendQuote(append(b, " rv="...), o.ResourceVersion)
	if o.Limit != 0 {
		b = strconv.AppendInt(append(b, " limit="...), o.Limit, 10)
	}
	if o.AllowWatchBookmarks {
		b = append(b, " bookmarks"...)
	}
	if o.SendInitialEvents != nil {
		b = strconv.AppendBool(append(b, " sendInitialEvents="...), *o.SendInitialEvents)
	}
	if o.TimeoutSeconds != nil {
		b = strconv.AppendInt(append(b, " timeout="...), *o.TimeoutSeconds, 10)
	}
	return string(b)
}

// describeGet is describe for a get: its last word is the object, as that of a write's description is.
func (c *call) describeGet() string {
	namespace, name := c.objectName()
	if namespace != "" {
		name = namespace + "/" + name
	}
	if rv := c.options.ResourceVersion; rv != "" {
		return "get rv=" + strconv.Quote(rv) + " " + name
	}
	return "get " + name
}
