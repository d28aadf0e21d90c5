package builtin

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/deprecation"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/capabilities"
	jobstore "k8s.io/kubernetes/pkg/registry/batch/job/storage"
	servicestore "k8s.io/kubernetes/pkg/registry/core/service/storage"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// Options select what the resources do. The zero value is a kube-apiserver with default flags.
type Options struct {
	// Unprotected creates claims, volumes and classes of their attributes without the finalizers that protect them while they are used. Those are
	// removed by controllers, which do not run where controllers are simulated: a deleted claim would stay for ever.
	Unprotected bool
	// IPAddresses makes an IPAddress for each cluster IP that a Service gets. Without it there are none but what clients create: in most simulations
	// they would be noise.
	IPAddresses bool
	// Aggregation adds APIServices. Package aggregation makes those of the server's own groups.
	Aggregation bool
	// Authorizer answers reviews, and says who may write roles and bindings that give more than he has. nil allows everything.
	Authorizer Authorizer
}

// Authorizer says who may do what, and what somebody may do.
type Authorizer interface {
	authorizer.Authorizer
	authorizer.RuleResolver
}

// Resources returns the resources that a v1.37 kube-apiserver serves by default, in the order of its discovery. Each call makes them anew; those
// of one call are for one server at a time.
func Resources(o Options) []*types.Resource {
	all, err := resources(o)
	if err != nil {
		panic(err) // cannot happen: nothing but what is linked has a say, and a test makes them
	}
	return all
}

func resources(o Options) ([]*types.Resource, error) {
	capabilities.Setup(true, 0) // privileged containers, as envtest's flags allow them
	if o.Authorizer == nil {
		o.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	}
	now := &current{ipAddresses: o.IPAddresses, types: newTypeTable()}
	signer, err := newSigner()
	if err != nil {
		return nil, err
	}
	chain, err := newAdmission(now, o)
	if err != nil {
		return nil, err
	}
	var all []*types.Resource
	for _, g := range groups(now, tokens{now, signer}, o) {
		b, info, err := g.storages()
		if err != nil {
			return nil, err
		}
		for _, v := range g.versions {
			storages := info.VersionedResourcesStorageMap[v]
			for _, path := range slices.Sorted(maps.Keys(storages)) {
				if strings.Contains(path, "/") {
					continue
				}
				r, err := describe(b, v, path, ofResource(storages, path), now)
				if err != nil {
					return nil, err
				}
				r.Strategy.(*kind).admission = chain
				all = append(all, r)
			}
		}
	}
	return all, nil
}

// The release whose deprecations count.
const (
	releaseMajor = 1
	releaseMinor = 37
)

// describe describes a resource from its storages.
func describe(b backends, version, plural string, storages map[string]rest.Storage, now *current) (*types.Resource, error) {
	main, g := storages[""], b.group
	k := &kind{gv: schema.GroupVersion{Group: g.name, Version: version}, storages: storages, now: now}
	gvk, err := k.kindOf(main)
	if err != nil {
		return nil, err
	}
	k.gvk = gvk
	store := schema.GroupResource{Group: g.name, Resource: plural}
	if b.attrs[store] == nil && b.attrs[schema.GroupResource{Resource: plural}] != nil {
		store.Group = "" // its storage says so
	}
	k.stored = storageVersion(g, store)
	r := &types.Resource{
		Group: g.name, Version: version, Kind: gvk.Kind, ListKind: gvk.Kind + "List", Plural: plural, Singular: strings.ToLower(gvk.Kind),
		Verbs: verbs(main), StorageVersion: k.stored.Version, Strategy: k,
	}
	if s, ok := main.(rest.Scoper); ok {
		r.Namespaced = s.NamespaceScoped()
	}
	if s, ok := main.(rest.SingularNameProvider); ok {
		r.Singular = s.GetSingularName()
	}
	if s, ok := main.(rest.ShortNamesProvider); ok {
		r.ShortNames = s.ShortNames()
	}
	if s, ok := main.(rest.CategoriesProvider); ok {
		r.Categories = s.Categories()
	}
	if obj := empty(gvk); deprecation.IsDeprecated(obj, releaseMajor, releaseMinor) {
		r.Deprecated = deprecation.WarningMessage(obj)
	}
	for _, sub := range slices.Sorted(maps.Keys(storages)) {
		if sub == "" {
			continue
		}
		s, err := k.subresource(sub)
		if err != nil {
			return nil, err
		}
		r.Subresources = append(r.Subresources, s)
	}
	if store != r.GroupResource() {
		r.StoredAs = store
	}
	k.resource, k.attrs = r, b.attrs[store]
	r.SelectableFields = k.selectable(main.New())
	switch st := main.(type) {
	case *jobstore.REST:
		st.CreateStrategy = identify(st.CreateStrategy)
	case *servicestore.REST:
		b.made[store].decorate = st.Decorator
	}
	return r, nil
}

func (k *kind) subresource(name string) (types.Subresource, error) {
	st := k.storages[name]
	s := types.Subresource{Name: name, Verbs: verbs(st)}
	gvk, err := k.kindOf(st)
	if err == nil && gvk != k.gvk {
		s.Kind = gvk
	}
	if a, ok := st.(rest.GroupVersionAcceptor); ok {
		s.Takes = a.AcceptsGroupVersion
	}
	if p, ok := st.(rest.SubresourceObjectMetaPreserver); ok {
		s.KeepsMeta = p.PreserveRequestObjectMetaSystemFieldsOnSubresourceCreate()
	}
	if name == types.Scale {
		s.Replicas = &types.ReplicaPaths{Spec: "spec.replicas", Status: "status.replicas"}
	}
	return s, err
}

// kindOf returns the kind of a storage's objects in the resource's version.
func (k *kind) kindOf(st rest.Storage) (schema.GroupVersionKind, error) {
	if p, ok := st.(rest.GroupVersionKindProvider); ok {
		return p.GroupVersionKind(k.gv), nil
	}
	kinds, _, err := scheme.ObjectKinds(st.New())
	if err != nil {
		return schema.GroupVersionKind{}, fmt.Errorf("builtin: %s: %w", k.gv, err)
	}
	for _, gvk := range kinds {
		if gvk.Group == k.gv.Group {
			return k.gv.WithKind(gvk.Kind), nil
		}
	}
	return schema.GroupVersionKind{Group: kinds[0].Group, Version: "v1", Kind: kinds[0].Kind}, nil
}

// verbs returns discovery's verbs of a storage, in its order (endpoints/installer.go).
func verbs(st rest.Storage) []string {
	var all []string
	add := func(verb string, has bool) {
		if has {
			all = append(all, verb)
		}
	}
	_, create := st.(rest.Creater)
	_, createNamed := st.(rest.NamedCreater)
	_, del := st.(rest.GracefulDeleter)
	_, delAll := st.(rest.CollectionDeleter)
	_, get := st.(rest.Getter)
	_, getOptions := st.(rest.GetterWithOptions)
	_, list := st.(rest.Lister)
	_, patch := st.(rest.Patcher)
	_, update := st.(rest.Updater)
	_, watch := st.(rest.Watcher)
	if c, ok := st.(rest.Connecter); ok {
		for _, method := range c.ConnectMethods() {
			if verb := connectVerbs[method]; !slices.Contains(all, verb) && verb != "" {
				all = append(all, verb)
			}
		}
		slices.Sort(all)
		return all
	}
	add("create", create || createNamed)
	add("delete", del)
	add("deletecollection", delAll)
	add("get", get || getOptions)
	add("list", list)
	add("patch", patch)
	add("update", update)
	add("watch", watch)
	return all
}

// connectVerbs are the verbs of the methods of a connection.
var connectVerbs = map[string]string{
	"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete",
}

// empty returns an empty object of a kind, with its kind set.
func empty(gvk schema.GroupVersionKind) runtime.Object {
	obj, err := scheme.New(gvk)
	if err != nil {
		panic(fmt.Sprintf("builtin: a storage's kind is not in its scheme: %v", err)) // the scheme has given it to us
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return obj
}
