package scenarios

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/subjects"
)

// informer starts an informer of the subject, with its own connection to the cluster.
//
//	informer i1 pods handlers=h1,h2 resync=30s
//	informer i2 pods handlers=slow@5m,quick@10s resync=1m
var informerSpec = spec{
	name: "informer",
	usage: "informer NAME RESOURCE [handlers=NAME[@RESYNC],...] [queue=delta|inorder|atomic] [watch-list=on|off] [resync=DURATION] [page=N] " +
		"[namespace=NS] [labels=SELECTOR] [fields=SELECTOR] [transform=drop:LABEL|fail:LABEL] [replica=N|round-robin|choice]",
	doc: "starts an informer of the stack under test with event handlers, each with the informer's resync period or its own, 0s for none: one that is " +
		"shorter becomes the period at which the informer checks (I78). transform=drop:LABEL drops a label of every object before it is queued (I43); " +
		"transform=fail:LABEL fails for objects that have it: what a watch brings of them is lost, and a list is made again (I112). " +
		"An exploration draws from its seed what is left open of queue=, watch-list=, page= (0: client-go's own rules), resync= (0s: none) and, with several replicas, replica=; the verdict says what was drawn. " +
		"A transcript has queue=delta watch-list=off page=0 resync=0s replica=0",
	parse: func(r *script.ArgReader) Command {
		c := &informerCmd{given: map[string]bool{}}
		for _, key := range drawnArgs {
			_, c.given[key] = r.Key(key)
		}
		c.spec.Name = r.Next("name").Value
		c.resource = r.Next("resource").Value
		handlers := r.List("handlers")
		c.spec.Queue = subjects.Queue(r.OneOf("queue", "", queueNames...))
		c.spec.WatchList = r.OneOf("watch-list", "off", "on", "off") == "on"
		c.spec.Resync = period(r, "resync", 0)
		c.spec.PageSize = r.Int64("page", 0, 0, 1<<31)
		c.spec.Namespace = r.String("namespace", "")
		c.spec.Labels = r.String("labels", "")
		c.spec.Fields = r.String("fields", "")
		if _, err := labels.Parse(c.spec.Labels); err != nil {
			a, _ := r.Key("labels")
			r.Fail(script.Errorf(a.Pos, "write it like labels=app=x", "informer: %q is not a label selector: %v", c.spec.Labels, err))
		}
		if _, err := fields.ParseSelector(c.spec.Fields); err != nil {
			a, _ := r.Key("fields")
			r.Fail(script.Errorf(a.Pos, "write it like fields=metadata.name=a", "informer: %q is not a field selector: %v", c.spec.Fields, err))
		}
		if a, given := r.Key("transform"); given {
			what, label, _ := strings.Cut(a.Value, ":")
			switch {
			case what == "drop" && label != "":
				c.spec.Transform.DropLabel = label
			case what == "fail" && label != "":
				c.spec.Transform.FailLabel = label
			default:
				r.Fail(script.Errorf(a.Pos, "write it like transform=drop:app or transform=fail:app", "informer: there is no transform %q", a.Value))
			}
		}
		c.parsePolicy(r)
		for _, h := range handlers {
			c.spec.Handlers = append(c.spec.Handlers, c.handler(r, h))
		}
		return c
	},
}

// handler reads a part of handlers=: NAME, or NAME@RESYNC.
func (c *informerCmd) handler(r *script.ArgReader, text string) subjects.HandlerSpec {
	name, own, has := strings.Cut(text, "@")
	if !has {
		return subjects.HandlerSpec{Name: name, Resync: c.spec.Resync}
	}
	d, err := time.ParseDuration(own)
	if a, _ := r.Key("handlers"); err != nil || name == "" || d != 0 && (d < leastPeriod || d > maxDuration) {
		r.Fail(script.Errorf(a.Pos, fmt.Sprintf("write it like h1@30s: 0s for never, or %s to %s", leastPeriod, maxDuration), "informer: %q is not a handler with a resync period", text))
	}
	return subjects.HandlerSpec{Name: name, Resync: d}
}

// drawnArgs are the arguments that an exploration draws if the command leaves them open.
var drawnArgs = []string{"queue", "watch-list", "page", "resync", "replica"}

// queueNames are the queues that queue= accepts.
var queueNames = []string{string(subjects.QueueDelta), string(subjects.QueueInOrder), string(subjects.QueueAtomic)}

type informerCmd struct {
	resource string
	spec     subjects.InformerSpec
	given    map[string]bool // which of drawnArgs are
	replica  int             // of replica=N; -1 for none
}

// parsePolicy reads replica=, which selects the apiserver.
func (c *informerCmd) parsePolicy(r *script.ArgReader) {
	a, given := r.Key("replica")
	c.replica = -1
	switch {
	case !given:
	case a.Value == "round-robin":
		c.spec.Policy = fakeapiserver.RoundRobin()
	case a.Value == "choice":
		c.spec.Policy = fakeapiserver.ByChoice()
	default:
		n, err := a.Int(0, 4)
		if err != nil {
			r.Fail(script.Errorf(a.Pos, "use a replica's number, round-robin or choice", "replica: %q is not a replica", a.Value))
		}
		c.replica = n
		c.spec.Policy = fakeapiserver.Sticky(n)
	}
}

func (c *informerCmd) declare(d *declarations, s *script.Command) error {
	d.started = true
	if err := d.need(s, c.resource, "resource"); err != nil {
		return err
	}
	if err := d.add(s, c.spec.Name, "informer"); err != nil {
		return err
	}
	if c.replica >= max(d.replicas, 1) {
		return script.Errorf(s.Pos, "write cluster replicas=N first", "informer: there is no replica %d: the cluster has %d", c.replica, max(d.replicas, 1))
	}
	for _, h := range c.spec.Handlers {
		if err := d.add(s, h.Name, "handler"); err != nil {
			return err
		}
	}
	return nil
}

func (c *informerCmd) run(w *World) error {
	id, ok := w.resources[c.resource]
	if !ok {
		return fmt.Errorf("informer: there is no resource %s", c.resource)
	}
	// A real cluster is never at revision 0: a list with the resourceVersion "0" would mean something else.
	if s := w.cluster.Store(); s.Revision() == 0 {
		if err := s.SkipTo(2); err != nil {
			return err
		}
	}
	spec := c.spec
	spec.Resource = id
	spec.Queue = c.queue(w.takesDefaults)
	if !c.given["replica"] && !w.takesDefaults {
		spec.Policy = fakeapiserver.ByChoice()
	}
	inf, err := w.subject.AddInformer(spec)
	if err != nil {
		return fmt.Errorf("informer %s: %w", spec.Name, err)
	}
	w.addInformer(inf, spec)
	return w.followRefusals(inf, spec)
}

// queue returns the informer's queue; "" for the subject's default. Every transcript has the same, so that it reads the same for
// every subject, and so has a guided run. An exploration has drawn one, unless it is an older trace that is replayed.
func (c *informerCmd) queue(takesDefaults bool) subjects.Queue {
	if c.spec.Queue == "" && takesDefaults {
		return subjects.QueueDelta
	}
	return c.spec.Queue
}

// configuration returns the informer's configuration in a cluster of so many replicas.
func (c *informerCmd) configuration(takesDefaults bool, replicas int) reports.Configuration {
	conf := reports.Configuration{
		Informer: c.spec.Name, Queue: cmp.Or(string(c.queue(takesDefaults)), "default"), WatchList: c.spec.WatchList, Page: c.spec.PageSize, Resync: c.spec.Resync,
	}
	switch {
	case replicas == 1:
	case c.spec.Policy == fakeapiserver.RoundRobin():
		conf.Replica = "round-robin"
	case c.spec.Policy == fakeapiserver.ByChoice(), !c.given["replica"] && !takesDefaults:
		conf.Replica = "choice"
	default:
		conf.Replica = strconv.Itoa(max(c.replica, 0))
	}
	return conf
}

// handler adds a handler to a running informer, which replays its store to it.
//
//	handler i1 h2 resync=10s
var handlerSpec = spec{
	name:  "handler",
	usage: "handler INFORMER NAME [resync=DURATION]",
	doc:   "adds an event handler to a running informer",
	parse: func(r *script.ArgReader) Command {
		return &handlerCmd{informer: r.Next("informer").Value, name: r.Next("name").Value, resync: period(r, "resync", 0)}
	},
}

type handlerCmd struct {
	informer, name string
	resync         time.Duration
}

func (c *handlerCmd) declare(d *declarations, s *script.Command) error {
	if err := d.need(s, c.informer, "informer"); err != nil {
		return err
	}
	return d.add(s, c.name, "handler")
}

func (c *handlerCmd) run(w *World) error {
	inf := w.informers[c.informer]
	if err := inf.AddHandler(subjects.HandlerSpec{Name: c.name, Resync: c.resync}); err != nil {
		return fmt.Errorf("handler %s: %w", c.name, err)
	}
	w.handlers[c.name] = inf
	return nil
}

// remove removes a handler.
//
//	remove h2
var removeSpec = spec{
	name:  "remove",
	usage: "remove HANDLER",
	doc:   "removes an event handler and drops its pending notifications",
	parse: func(r *script.ArgReader) Command { return &removeCmd{r.Next("handler").Value} },
}

type removeCmd struct{ name string }

func (c *removeCmd) declare(d *declarations, s *script.Command) error {
	return d.need(s, c.name, "handler")
}

func (c *removeCmd) run(w *World) error { return w.handlers[c.name].RemoveHandler(c.name) }

// stop stops an informer, or shuts down the queue of workers: they drain the keys that are ready and then end. With drain, somebody waits until no
// key is being reconciled (I96); another stop ends that wait.
//
//	stop i1
//	stop c1 drain
var stopSpec = spec{
	name:  "stop",
	usage: "stop INFORMER|WORKER [drain]",
	doc:   "stops an informer, or shuts down the queue of workers, which end once it is empty; with drain, somebody waits until no key is being reconciled (I96), or until the next stop",
	parse: func(r *script.ArgReader) Command {
		c := &stopCmd{name: r.Next("informer or worker").Value}
		if c.drain = r.More() > 0; c.drain {
			r.NextOneOf("how", "drain")
		}
		return c
	},
}

type stopCmd struct {
	name  string
	drain bool
}

func (c *stopCmd) declare(d *declarations, s *script.Command) error {
	if c.drain && d.need(s, c.name, "worker") != nil && d.need(s, c.name, "informer") == nil {
		return script.Errorf(s.Pos, "write stop "+c.name, "stop: only the queue of workers drains: client-go's informers end with what they have queued")
	}
	return d.need(s, c.name, "informer", "worker")
}

func (c *stopCmd) run(w *World) error {
	if ws := w.workers[c.name]; ws != nil {
		if c.drain {
			ws.Drain()
			return nil
		}
		ws.Stop()
		return nil
	}
	w.stopInformer(c.name)
	return nil
}
