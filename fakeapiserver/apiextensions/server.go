package apiextensions

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/patch"
	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/fakeapiserver/types/crd"
	"github.com/informersim/informersim/sim"
)

// KindDefinition is the choice to reconcile a definition.
var KindDefinition = sim.RegisterKind("definition", sim.ClassAction)

// manager is the user agent of status writes.
const manager = "kube-apiserver"

// reopenDelay is how long after a change the watches of the old resource are closed.
const reopenDelay = time.Second

// retry is the delay before a failed definition is reconciled again.
const retry = 5 * time.Second

// Server reconciles the definitions of a cluster. It is the actor "apiextensions".
type Server struct {
	cluster  *fakeapiserver.Cluster
	api      *rest.Server
	resource *types.Resource
	res      store.ResourceID
	writer   *patch.Writer
	id       sim.ActorID

	converters crd.Converters // nil if no conversion webhook is called

	queue   []string // distinct names of definitions to reconcile
	offered bool
	busy    bool // a definition is being reconciled

	served   map[string]*serving    // by the name of the definition
	emptying map[string]*collection // definitions that are being deleted
}

// serving is a definition as the REST layer last saw it.
type serving struct {
	group       schema.GroupResource
	uid         string
	generation  int64
	spec        apiextensionsv1.CustomResourceDefinitionSpec
	names       apiextensionsv1.CustomResourceDefinitionNames
	terminating bool
	since       int64
}

// New adds CustomResourceDefinitions to an API, and reconciles those that the cluster has, now and later.
func New(c *fakeapiserver.Cluster, api *rest.Server) (*Server, error) {
	s := &Server{
		cluster: c, api: api, resource: crd.Definitions(), writer: patch.NewWriter(),
		served: map[string]*serving{}, emptying: map[string]*collection{},
	}
	if err := api.Define(s.resource.GroupResource(), s.resource); err != nil {
		return nil, err
	}
	id, ok := c.FindResource(s.resource.GroupResource())
	if !ok {
		return nil, fmt.Errorf("apiextensions: the cluster has no %s", s.resource.GroupResource())
	}
	s.res = id
	s.id = c.Kernel().Register(s)
	c.OnCommit(s.committed)
	c.OnRestore(s.enqueueAll)
	s.enqueueAll()
	return s, nil
}

// ConvertBy has conversion webhooks called, for definitions that are served from now on. A call waits within a step.
func (s *Server) ConvertBy(f crd.Converters) { s.converters = f }

// Name implements sim.Actor.
func (s *Server) Name() string { return "apiextensions" }

// Apply implements sim.Actor: it reconciles the definition that has waited longest.
func (s *Server) Apply(sim.Choice) {
	s.offered = false
	name := s.queue[0]
	s.queue = s.queue[1:]
	s.busy = true
	in := s.atOnce() // so that what is quick is served when its creation is answered
	if d := s.get(name); d != nil && crd.Slow(d) {
		in = s.beside()
	}
	s.reconcile(name, in, func(again bool, err error) {
		s.busy = false
		switch {
		case err != nil:
			s.again(name, retry) // controllers retry failures
		case again:
			s.enqueue(name) // even if the write changed nothing
		}
		s.offer()
	})
}

func (s *Server) offer() {
	if !s.offered && !s.busy && len(s.queue) > 0 {
		s.cluster.Kernel().Offer(s.id, KindDefinition, 0)
		s.offered = true
	}
}

func (s *Server) enqueue(name string) {
	if !slices.Contains(s.queue, name) {
		s.queue = append(s.queue, name)
		s.offer()
	}
}

func (s *Server) committed(id store.ResourceID, done store.Committed) {
	if id == s.res {
		s.enqueue(done.Key)
		return
	}
	for _, name := range sortedNames(s.emptying) {
		if s.emptying[name].res == id && done.Deleted {
			s.enqueue(name)
		}
	}
}

// enqueueAll queues every definition that exists or is served.
func (s *Server) enqueueAll() {
	for _, name := range sortedNames(s.served) {
		s.enqueue(name)
	}
	for _, d := range s.definitions() {
		s.enqueue(d.Name)
	}
}

// definitions returns all definitions, sorted by name.
func (s *Server) definitions() []*apiextensionsv1.CustomResourceDefinition {
	return store.All[*apiextensionsv1.CustomResourceDefinition](s.cluster.Store(), s.res, "")
}

func (s *Server) get(name string) *apiextensionsv1.CustomResourceDefinition {
	obj, _ := s.cluster.Store().Get(s.res, "", name)
	d, _ := obj.(*apiextensionsv1.CustomResourceDefinition)
	return d
}

func (s *Server) now() metav1.Time {
	return metav1.NewTime(s.cluster.Now().Truncate(time.Second))
}

func (s *Server) again(name string, after time.Duration) {
	s.cluster.Kernel().Clock().AfterFunc(after, func() { s.enqueue(name) })
}

// runner says where slow work is done, and with which Writer.
type runner struct {
	run    func(work, then func())
	writer func(*types.Resource) (*patch.Writer, *types.Resource)
	early  bool // build early what would be built on first use
}

// beside is the runner that lets others go on, if the REST layer can.
func (s *Server) beside() runner {
	return runner{s.api.Background, s.api.Writer, s.api.HasBackground()}
}

// atOnce is the runner that does everything inside the current step.
func (s *Server) atOnce() runner {
	return runner{
		func(work, then func()) { work(); then() },
		func(r *types.Resource) (*patch.Writer, *types.Resource) { return s.writer, r },
		false,
	}
}

// reconcile takes the next step for a definition, and calls done inside a step; again reports whether it was a write, so that more
// may follow.
func (s *Server) reconcile(name string, in runner, done func(again bool, err error)) {
	d := s.get(name)
	s.serve(name, d, s.cluster.Store().Revision(), in, func(err error) {
		if err != nil || s.get(name) != d { // a change has queued it again
			done(false, err)
			return
		}
		if d == nil {
			delete(s.emptying, name)
			done(false, nil)
			return
		}
		for _, next := range []func(*apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition{
			s.approval, s.names, s.establish, s.empty,
		} {
			if changed := next(d); changed != nil {
				s.writeStatus(d, changed, in, func(err error) { done(true, err) })
				return
			}
		}
		done(false, nil)
	})
}

// serve tells the REST layer about a change: nil for a deleted definition. Everything stored up to revision until may have an earlier
// form. A definition that the library accepts but cannot compile is not served.
func (s *Server) serve(name string, d *apiextensionsv1.CustomResourceDefinition, until int64, in runner, done func(error)) {
	was := s.served[name]
	if d != nil && !apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Established) && !apihelpers.IsCRDConditionTrue(d, apiextensionsv1.NamesAccepted) {
		d = nil // its names are not accepted yet
	}
	switch {
	case d == nil && was == nil:
		done(nil)
		return
	case d == nil:
		delete(s.served, name)
		s.others(name, was.group.Group)
		s.reopenLater(was.group)
		done(s.api.Define(was.group))
		return
	}
	now := &serving{
		group: schema.GroupResource{Group: d.Spec.Group, Resource: d.Spec.Names.Plural}, uid: string(d.UID), generation: d.Generation,
		spec: d.Spec, names: d.Status.AcceptedNames, terminating: d.DeletionTimestamp != nil || apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Terminating),
	}
	if was != nil {
		now.since = was.since
	}
	changed := was != nil && was.differs(now)
	if was != nil && !changed && was.terminating == now.terminating {
		done(nil)
		return
	}
	if changed || was == nil && d.Generation > 1 {
		now.since = until
	}
	s.served[name] = now
	var versions []*types.Resource
	var err error
	in.run(func() {
		versions, err = crd.Redefine(d, now.since, s.converters)
		if in.early {
			for _, v := range versions {
				v.Strategy.TypeConverter() // the first write would build it inside a step
			}
		}
	}, func() {
		if s.served[name] != now { // the cluster was restored meanwhile
			done(nil)
			return
		}
		if changed {
			s.reopenLater(now.group)
		}
		done(errors.Join(err, s.api.Define(now.group, versions...)))
	})
}

// differs reports whether something is served that was not. A generation has one spec.
func (s *serving) differs(now *serving) bool {
	return s.uid != now.uid || s.generation != now.generation && !equality.Semantic.DeepEqual(s.spec, now.spec) ||
		!equality.Semantic.DeepEqual(s.names, now.names)
}

// reopenLater closes the watches of a resource once requests in flight have ended.
func (s *Server) reopenLater(gr schema.GroupResource) {
	id, ok := s.cluster.FindResource(gr)
	if ok {
		s.cluster.Kernel().Clock().AfterFunc(reopenDelay, func() { s.cluster.Reopen(id) })
	}
}

// others queues the other definitions of a group: names may have become free.
func (s *Server) others(name, group string) {
	for _, d := range s.definitions() {
		if d.Spec.Group == group && d.Name != name {
			s.enqueue(d.Name)
		}
	}
}

// writeStatus writes a definition's status like a controller. A definition that has lost its last finalizer is deleted by it.
func (s *Server) writeStatus(live, next *apiextensionsv1.CustomResourceDefinition, in runner, done func(error)) {
	request := patch.Request{
		Resource: s.resource, Subresource: types.Status, Name: live.Name, UserAgent: manager,
		System: types.System{Now: s.now().Time},
	}
	var result patch.Result
	var err error
	in.run(func() { result, err = withStatus(in, request, live, next) }, func() {
		switch {
		case err != nil || s.get(live.Name) != live: // a change has queued it again
		case result.Delete:
			_, err = s.cluster.Delete(s.res, "", live.Name, nil)
		case !result.Unchanged:
			_, err = s.cluster.Update(s.res, result.Object)
		}
		done(err)
	})
}

func withStatus(in runner, request patch.Request, live, next *apiextensionsv1.CustomResourceDefinition) (patch.Result, error) {
	data, err := json.Marshal(next)
	if err != nil {
		return patch.Result{}, err
	}
	var writer *patch.Writer
	writer, request.Resource = in.writer(request.Resource)
	return writer.Update(request, live, types.Body{Data: data, ContentType: types.JSON}, &metav1.UpdateOptions{})
}

// withoutSpecCopy returns a copy of a definition whose status and metadata may be changed. A spec of many properties is not copied.
func withoutSpecCopy(d *definition) *definition {
	return &definition{TypeMeta: d.TypeMeta, ObjectMeta: *d.ObjectMeta.DeepCopy(), Spec: d.Spec, Status: *d.Status.DeepCopy()}
}

// sortedNames returns the sorted keys of a map.
func sortedNames[T any](m map[string]T) []string {
	names := make([]string, 0, len(m))
	for name := range m { // order: sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
