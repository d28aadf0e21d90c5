package bench

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/internal/probe/resources"
	"github.com/informersim/informersim/sim"
)

var kindAsk = sim.RegisterKind("ask", sim.ClassScript)

// Direct is a fake apiserver without a transport, as simulated informers use it: a kernel admits, answers and delivers each
// request of its in-process clients in steps, with objects instead of bytes and without the REST layer's rules.
type Direct struct {
	kernel  *sim.Kernel
	cluster *fakeapiserver.Cluster
	gizmos  store.ResourceID
	actor   sim.ActorID
	ask     func()
}

// NewDirect returns a server without objects.
func NewDirect() (*Direct, error) {
	d := &Direct{kernel: sim.NewKernel(sim.Options{Seed: 1, Strategy: sim.NewFIFO()})}
	d.cluster = fakeapiserver.NewCluster(d.kernel, fakeapiserver.ClusterOptions{})
	d.actor = d.kernel.Register(d)
	var err error
	d.gizmos, err = d.cluster.AddResource(store.Resource{
		Group: resources.Group, Version: resources.Version, Plural: "gizmos", Kind: "Gizmo", Namespaced: true,
	})
	return d, err
}

// Name implements sim.Actor.
func (*Direct) Name() string { return "bench" }

// Apply implements sim.Actor.
func (d *Direct) Apply(sim.Choice) { d.ask() }

// do makes requests and takes all steps that follow.
func (d *Direct) do(ask func()) error {
	d.ask = ask
	d.kernel.Offer(d.actor, kindAsk, 0)
	for !d.kernel.Quiet() && d.kernel.Step() {
	}
	return d.kernel.Err()
}

// answers counts the answers to a client.
type answers struct {
	writes, events int
	page           *fakeapiserver.Page
	err            error
}

func (a *answers) fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

// OnList implements fakeapiserver.Receiver.
func (a *answers) OnList(_ fakeapiserver.ReqID, page *fakeapiserver.Page, err error) {
	a.page = page
	a.fail(err)
}

// OnWrite implements fakeapiserver.Receiver.
func (a *answers) OnWrite(_ fakeapiserver.ReqID, _ runtime.Object, err error) {
	a.writes++
	a.fail(err)
}

// OnEvent implements fakeapiserver.Receiver.
func (a *answers) OnEvent(fakeapiserver.ReqID, fakeapiserver.Event) { a.events++ }

// OnWatchOpened implements fakeapiserver.Receiver.
func (a *answers) OnWatchOpened(fakeapiserver.ReqID) {}

// OnWatchOpenError implements fakeapiserver.Receiver.
func (a *answers) OnWatchOpenError(_ fakeapiserver.ReqID, err error) { a.fail(err) }

// OnWatchClosed implements fakeapiserver.Receiver.
func (a *answers) OnWatchClosed(_ fakeapiserver.ReqID, err error) {
	a.fail(fmt.Errorf("a watch was closed: %w", err))
}

func (d *Direct) client(n int) *fakeapiserver.Client {
	return d.cluster.Connect(fmt.Sprint("bench-", n), fakeapiserver.Sticky(0))
}

func gizmo(name string, size int) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": resources.Group + "/" + resources.Version, "kind": "Gizmo",
		"metadata": map[string]any{"name": name, "namespace": "bench", "labels": map[string]any{"app": "x"}},
		"spec":     map[string]any{"color": "red", "size": int64(size % 1000)},
	}}
}

// create has several clients create objects concurrently.
func (d *Direct) create(prefix string, objects, clients int) (Result, error) {
	var a answers
	began := time.Now()
	for i := 0; i < objects; i += clients {
		err := d.do(func() {
			for n := range min(clients, objects-i) {
				d.client(n).Write(fakeapiserver.Write{
					Verb: fakeapiserver.Create, Resource: d.gizmos, Object: gizmo(fmt.Sprintf("%s-%06d", prefix, i+n), i+n),
				}, &a)
			}
		})
		if err != nil {
			return Result{}, err
		}
	}
	result := Result{fmt.Sprintf("create/clients=%d", clients), objects, time.Since(began), "creates"}
	if a.writes != objects {
		return result, fmt.Errorf("%d creates were answered, want %d", a.writes, objects)
	}
	return result, a.err
}

// list lists everything a number of times, in pages if the options have a limit.
func (d *Direct) list(name, unit string, o metav1.ListOptions, times, want int) (Result, error) {
	result := Result{Name: name, Unit: unit}
	began := time.Now()
	for range times {
		seen := 0
		for page := o; ; {
			var a answers
			if err := d.do(func() { d.client(0).List(d.gizmos, "bench", page, &a) }); err != nil {
				return result, err
			}
			if a.err != nil {
				return result, a.err
			}
			result.Operations++
			seen += len(a.page.Items)
			if page.Continue = a.page.Continue; page.Continue == "" {
				break
			}
		}
		if seen != want {
			return result, fmt.Errorf("%d objects, want %d", seen, want)
		}
	}
	result.Duration = time.Since(began)
	return result, nil
}

func (d *Direct) fanOut(watchers, updates int) (Result, error) {
	result := Result{Name: fmt.Sprintf("fan-out/watchers=%d", watchers), Operations: watchers * updates, Unit: "events"}
	name := fmt.Sprintf("fan-out-%d", watchers)
	var seen, written answers
	client := d.client(0)
	write := func(verb fakeapiserver.WriteVerb, size int) error {
		return d.do(func() {
			client.Write(fakeapiserver.Write{Verb: verb, Resource: d.gizmos, Object: gizmo(name, size)}, &written)
		})
	}
	if err := write(fakeapiserver.Create, 0); err != nil {
		return result, err
	}
	from := metav1.ListOptions{ResourceVersion: fmt.Sprint(d.cluster.Store().Revision())}
	watches := make([]fakeapiserver.ReqID, watchers)
	err := d.do(func() {
		for i := range watches {
			watches[i] = client.Watch(d.gizmos, "bench", from, &seen)
		}
	})
	if err != nil {
		return result, err
	}
	began := time.Now()
	for i := range updates {
		if err := write(fakeapiserver.Update, i+1); err != nil {
			return result, err
		}
	}
	result.Duration = time.Since(began)
	if seen.events != result.Operations {
		return result, fmt.Errorf("%d events were delivered, want %d", seen.events, result.Operations)
	}
	seen.fail(written.err)
	if seen.err != nil {
		return result, seen.err
	}
	return result, d.do(func() {
		for _, id := range watches {
			client.Cancel(id)
		}
	})
}

// Suite runs the measurements of Server.Suite.
func (d *Direct) Suite(z Sizes, report func(Result)) error {
	made := 0
	measure := func(r Result, err error) error {
		if err != nil {
			return fmt.Errorf("measure %s: %w", r.Name, err)
		}
		report(r)
		return nil
	}
	for _, clients := range []int{1, manyClients} {
		if err := measure(d.create(fmt.Sprintf("by-%d", clients), z.Creates, clients)); err != nil {
			return err
		}
		made += z.Creates
	}
	if rest := z.Objects - made; rest > 0 {
		if _, err := d.create("more", rest, manyClients); err != nil {
			return err
		}
		made += rest
	}
	for _, l := range []struct {
		name, unit string
		o          metav1.ListOptions
		times      int
	}{
		{"list/consistent", "lists", metav1.ListOptions{}, listTimes},
		{"list/rv=0", "lists", metav1.ListOptions{ResourceVersion: "0"}, listTimes},
		{fmt.Sprintf("page/limit=%d", pageLimit), "pages", metav1.ListOptions{Limit: pageLimit}, listTimes},
	} {
		if err := measure(d.list(l.name, l.unit, l.o, l.times, made)); err != nil {
			return err
		}
	}
	for _, watchers := range z.Watchers {
		if err := measure(d.fanOut(watchers, z.Updates)); err != nil {
			return err
		}
	}
	return nil
}
