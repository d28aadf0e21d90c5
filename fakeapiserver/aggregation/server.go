package aggregation

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/sim"
)

// KindAPIService is the choice to look after one APIService.
var KindAPIService = sim.RegisterKind("apiservice", sim.ClassAction)

// retry is the delay before what has failed is tried again.
const retry = time.Second

// The resources that are read, and written.
var (
	apiServices = schema.GroupResource{Group: apiregistrationv1.GroupName, Resource: "apiservices"}
	definitions = apiextensionsv1.Resource("customresourcedefinitions")
	services    = corev1.Resource("services")
	slicesOf    = discoveryv1.Resource("endpointslices")
)

// Server looks after the APIServices of a cluster. It is the actor "kube-aggregator".
type Server struct {
	cluster *fakeapiserver.Cluster
	api     *rest.Server
	ids     map[schema.GroupResource]store.ResourceID
	id      sim.ActorID

	begun   bool
	queue   []string // distinct names of APIServices
	offered bool

	wanted  map[string]*apiregistrationv1.APIService // by name
	synced  map[string]bool                          // names that have been looked after once
	atStart map[string]bool                          // names that were there before

	registered []types.Registration // nil if it has to be made anew
}

// New adds an aggregation layer to an API that has APIServices, Services, EndpointSlices and CustomResourceDefinitions. It does nothing before
// Begin.
func New(c *fakeapiserver.Cluster, api *rest.Server) (*Server, error) {
	s := &Server{
		cluster: c, api: api, ids: map[schema.GroupResource]store.ResourceID{},
		wanted: map[string]*apiregistrationv1.APIService{}, synced: map[string]bool{}, atStart: map[string]bool{},
	}
	for _, gr := range []schema.GroupResource{apiServices, definitions, services, slicesOf} {
		id, ok := c.FindResource(gr)
		if !ok {
			return nil, fmt.Errorf("aggregation: the cluster has no %s", gr)
		}
		s.ids[gr] = id
	}
	s.id = c.Kernel().Register(s)
	c.OnCommit(s.committed)
	c.OnRestore(s.restored)
	api.Aggregate(s.Registered)
	return s, nil
}

// Begin makes the APIServices of everything that is served now, inside a step, and looks after them from then on.
func (s *Server) Begin() error {
	s.begun = true
	for _, a := range s.all() {
		s.atStart[a.Name] = true
		s.enqueue(a.Name)
	}
	for _, r := range s.api.Served() {
		if gv := r.GroupVersion(); !r.Custom && gv.Group != apiregistrationv1.GroupName {
			s.want(gv, onStart)
		}
	}
	for _, d := range s.definitionsOf("") {
		s.wantOf(d)
	}
	for len(s.queue) > 0 {
		name := s.next()
		if err := s.look(name); err != nil {
			return fmt.Errorf("APIService %s: %w", name, err)
		}
	}
	return nil
}

// Name implements sim.Actor.
func (s *Server) Name() string { return "kube-aggregator" }

// Apply implements sim.Actor: it looks after the APIService that has waited longest.
func (s *Server) Apply(sim.Choice) {
	s.offered = false
	if len(s.queue) > 0 { // Begin has looked after all
		name := s.next()
		if err := s.look(name); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			s.cluster.Kernel().Clock().AfterFunc(retry, func() { s.enqueue(name) })
		}
	}
	s.offer()
}

// next takes the name that has waited longest.
func (s *Server) next() string {
	name := s.queue[0]
	s.queue = s.queue[1:]
	return name
}

func (s *Server) offer() {
	if s.begun && !s.offered && len(s.queue) > 0 {
		s.cluster.Kernel().Offer(s.id, KindAPIService, 0)
		s.offered = true
	}
}

func (s *Server) enqueue(name string) {
	if !slices.Contains(s.queue, name) {
		s.queue = append(s.queue, name)
		s.offer()
	}
}

// look looks after one APIService: whether it is there, and what its condition says.
func (s *Server) look(name string) error {
	if err := s.register(name); err != nil {
		return err
	}
	return s.check(name)
}

func (s *Server) committed(id store.ResourceID, done store.Committed) {
	switch id {
	case s.ids[apiServices]:
		s.registered = nil
		if s.begun {
			s.enqueue(done.Key)
		}
	case s.ids[definitions]:
		if !s.begun {
			return
		}
		for _, obj := range []runtime.Object{done.Old, done.Object} {
			if d, ok := obj.(*apiextensionsv1.CustomResourceDefinition); ok {
				s.wantOf(d)
			}
		}
	case s.ids[services]:
		if m, ok := done.Object.(metav1.Object); ok {
			s.served(m.GetNamespace(), m.GetName())
		}
	case s.ids[slicesOf]:
		if m, ok := done.Object.(metav1.Object); ok {
			s.served(m.GetNamespace(), m.GetLabels()[discoveryv1.LabelServiceName])
		}
	}
}

// served queues the APIServices whose server is behind a Service.
func (s *Server) served(namespace, name string) {
	if !s.begun {
		return
	}
	for _, a := range s.all() {
		if to := a.Spec.Service; to != nil && to.Namespace == namespace && to.Name == name {
			s.enqueue(a.Name)
		}
	}
}

// restored looks after everything anew: the Store is another one.
func (s *Server) restored() {
	s.registered = nil
	if !s.begun {
		return
	}
	for _, a := range s.all() {
		s.enqueue(a.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(s.wanted)) {
		if w := s.wanted[name]; w.Labels[managed] == always && !s.defines(schema.GroupVersion{Group: w.Spec.Group, Version: w.Spec.Version}) {
			delete(s.wanted, name)
		}
		s.enqueue(name)
	}
	for _, d := range s.definitionsOf("") {
		s.wantOf(d)
	}
}

// all returns all APIServices, sorted by name. Nobody changes them.
func (s *Server) all() []*apiregistrationv1.APIService {
	return walk[*apiregistrationv1.APIService](s, apiServices)
}

func (s *Server) get(name string) *apiregistrationv1.APIService {
	obj, _ := s.cluster.Store().Get(s.ids[apiServices], "", name)
	a, _ := obj.(*apiregistrationv1.APIService)
	return a
}

// walk returns the newest state of all objects of a resource, in the order of their keys.
func walk[T runtime.Object](s *Server, gr schema.GroupResource) []T {
	return store.All[T](s.cluster.Store(), s.ids[gr], "")
}

// Registered returns the APIServices in the order of discovery.
func (s *Server) Registered() []types.Registration {
	if s.registered != nil {
		return s.registered
	}
	s.registered = []types.Registration{}
	for _, group := range helper.SortedByGroupAndVersion(s.all()) {
		for _, a := range group {
			s.registered = append(s.registered, types.Registration{
				GroupVersion: schema.GroupVersion{Group: a.Spec.Group, Version: a.Spec.Version},
				Priority:     types.Priority{Group: a.Spec.GroupPriorityMinimum, Version: a.Spec.VersionPriority},
				Remote:       a.Spec.Service != nil,
			})
		}
	}
	return s.registered
}
