package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
)

// backend is the etcd of a resource's storages: it reads what the session knows, and writes into the session.
type backend struct {
	resource schema.GroupResource
	prefix   string // of its keys
	stored   schema.GroupVersion
	example  func() runtime.Object
	decorate func(runtime.Object) // what a storage does to an object that it reads, nil for nothing
}

var _ storage.Interface = (*backend)(nil)

// errNotHere is the answer to what no write needs.
var errNotHere = errors.New("builtin: the backend of a write only reads, writes and lists")

// backends gives each resource's storages a backend. It implements generic.RESTOptionsGetter.
type backends struct {
	group group
	attrs map[schema.GroupResource]storage.AttrFunc // what field selectors read, filled in
	made  map[schema.GroupResource]*backend         // filled in
}

// specialPrefixes are the paths of etcd that are not a resource's name (SpecialDefaultResourcePrefixes of
// pkg/kubeapiserver/default_storage_factory_builder.go). Errors show them.
var specialPrefixes = map[string]string{
	"replicationcontrollers":      "controllers",
	"endpoints":                   "services/endpoints",
	"nodes":                       "minions",
	"services":                    "services/specs",
	"ingresses.networking.k8s.io": "ingress",

	"apiservices.apiregistration.k8s.io": "apiregistration.k8s.io/apiservices", // the aggregator has a layout of its own
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (b backends) GetRESTOptions(gr schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	path := gr.Resource
	if special := specialPrefixes[gr.String()]; special != "" {
		path = special
	}
	gv := storageVersion(b.group, gr)
	return generic.RESTOptions{
		ResourcePrefix: "/registry/" + path, EnableGarbageCollection: true,
		StorageConfig: &storagebackend.ConfigForResource{Config: storagebackend.Config{Codec: codecOf(gv)}, GroupResource: gr},
		Decorator: func(_ *storagebackend.ConfigForResource, _ string, _ func(runtime.Object) (string, error), example, _ func() runtime.Object,
			attrs storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
			b.attrs[gr] = attrs
			b.made[gr] = &backend{resource: gr, prefix: "/registry/" + path + "/", stored: gv, example: example}
			return b.made[gr], func() {}, nil
		},
	}, nil
}

// storageVersion returns the version in which a group's resource is stored. Events of events.k8s.io are those of the core group.
func storageVersion(g group, gr schema.GroupResource) schema.GroupVersion {
	if gr.Group != g.name {
		return schema.GroupVersion{Group: gr.Group, Version: "v1"}
	}
	if v := storageVersions[gr.String()]; v != "" {
		return schema.GroupVersion{Group: g.name, Version: v}
	}
	return schema.GroupVersion{Group: g.name, Version: g.versions[0]}
}

// read returns the stored object of a key, nil if there is none.
func (b *backend) read(ctx context.Context, key string) (runtime.Object, *session) {
	s := sessionOf(ctx)
	if s == nil {
		return nil, nil
	}
	namespace, name := b.split(key)
	if s.names(b.resource, namespace, name) {
		return s.live, s
	}
	return s.other(b.resource, namespace, name), s
}

// split returns the namespace and name of a key.
func (b *backend) split(key string) (namespace, name string) {
	name = strings.TrimPrefix(key, b.prefix)
	if before, after, namespaced := strings.Cut(name, "/"); namespaced {
		return before, after
	}
	return "", name
}

// sameBytes compares what is stored as etcd does. Protobuf has no empty lists, but it tells empty bytes, such as a certificate of no length, from
// bytes that are not there.
var sameBytes = func() conversion.Equalities {
	e := equality.Semantic.Copy()
	if err := e.AddFunc(func(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }); err != nil {
		panic("builtin: " + err.Error()) // cannot happen: it is a function of two values of a type
	}
	return e
}()

// encode returns an internal object as it will be read, and as it is written if that is not the same.
func (b *backend) encode(obj runtime.Object) (stored, written runtime.Object, err error) {
	stored, written, err = encode(obj, b.stored)
	if err != nil || b.decorate == nil {
		return stored, written, err
	}
	hub, err := internal(stored)
	if err != nil {
		return nil, nil, err
	}
	b.decorate(hub)
	stored, err = versioned(hub, b.stored)
	return stored, written, err
}

// Versioner implements storage.Interface.
func (*backend) Versioner() storage.Versioner { return storage.APIObjectVersioner{} }

// Get implements storage.Interface.
func (b *backend) Get(ctx context.Context, key string, o storage.GetOptions, into runtime.Object) error {
	obj, _ := b.read(ctx, key)
	if obj == nil {
		if o.IgnoreNotFound {
			return assign(into, b.example())
		}
		return storage.NewKeyNotFoundError(key, 0)
	}
	return decodeInto(obj, into)
}

// Create implements storage.Interface.
func (b *backend) Create(ctx context.Context, key string, obj, out runtime.Object, _ uint64) error {
	s := sessionOf(ctx)
	if s == nil {
		return errNotHere
	}
	if v, err := b.Versioner().ObjectResourceVersion(obj); err == nil && v != 0 {
		return storage.ErrResourceVersionSetOnCreate
	}
	if err := b.Versioner().PrepareObjectForStorage(obj); err != nil {
		return fmt.Errorf("PrepareObjectForStorage failed: %w", err)
	}
	s.stamp(obj)
	stored, written, err := b.encode(obj)
	if err != nil {
		return err
	}
	if namespace, name := b.split(key); !s.creates(b.resource, namespace, name) {
		return errNotHere
	}
	s.live, s.stored, s.created, s.written = stored, stored, true, written
	return decodeInto(stored, out)
}

// GuaranteedUpdate implements storage.Interface.
func (b *backend) GuaranteedUpdate(ctx context.Context, key string, out runtime.Object, ignoreNotFound bool, p *storage.Preconditions,
	update storage.UpdateFunc, _ runtime.Object) error {
	was, s := b.read(ctx, key)
	existing, before := b.example(), b.example()
	switch {
	case was != nil:
		if err := errors.Join(decodeInto(was, existing), decodeInto(was, before)); err != nil {
			return err
		}
	case s == nil || !ignoreNotFound:
		return storage.NewKeyNotFoundError(key, 0)
	}
	if err := p.Check(key, existing); err != nil {
		return err
	}
	revision, err := b.Versioner().ObjectResourceVersion(existing)
	if err != nil {
		return err
	}
	obj, _, err := update(existing, storage.ResponseMeta{ResourceVersion: revision})
	if err != nil {
		return err
	}
	if err := b.Versioner().PrepareObjectForStorage(obj); err != nil {
		return fmt.Errorf("failed to prepare object for storage: %w", err)
	}
	if was == nil {
		return b.Create(ctx, key, obj, out, 0)
	}
	s.restamp(obj, before)
	stored, written, err := b.encode(obj)
	if err != nil {
		return err
	}
	if err := b.Versioner().UpdateObject(stored, revision); err != nil {
		return err
	}
	if sameBytes.DeepEqual(stored, was) && sameBytes.DeepEqual(written, s.writtenBefore(b, key)) {
		return decodeInto(was, out)
	}
	s.update(b, key, stored, written)
	return decodeInto(stored, out)
}

// Delete implements storage.Interface.
func (b *backend) Delete(ctx context.Context, key string, out runtime.Object, p *storage.Preconditions, validate storage.ValidateObjectFunc,
	_ runtime.Object, _ storage.DeleteOptions) error {
	was, s := b.read(ctx, key)
	if was == nil {
		return storage.NewKeyNotFoundError(key, 0)
	}
	if err := decodeInto(was, out); err != nil {
		return err
	}
	if err := p.Check(key, out); err != nil {
		return err
	}
	if err := validate(ctx, out); err != nil {
		return err
	}
	if namespace, name := b.split(key); !s.names(b.resource, namespace, name) {
		return errNotHere
	}
	s.live, s.deleted = nil, true
	return nil
}

// GetList implements storage.Interface, for who looks for the roles of a user. The deletion of a collection finds nothing: its objects are deleted one by
// one elsewhere.
func (b *backend) GetList(ctx context.Context, key string, _ storage.ListOptions, into runtime.Object) error {
	s := sessionOf(ctx)
	switch {
	case s == nil:
		return errNotHere
	case s.collection || s.write.List == nil:
		return nil
	}
	namespace, _ := b.split(strings.TrimSuffix(key, "/") + "/")
	var items []runtime.Object
	for _, stored := range s.write.List(b.resource, namespace) {
		obj, err := internal(stored)
		if err != nil {
			return err
		}
		items = append(items, obj)
	}
	return meta.SetList(into, items)
}

// Watch implements storage.Interface.
func (*backend) Watch(context.Context, string, storage.ListOptions) (watch.Interface, error) {
	return nil, errNotHere
}

// Stats implements storage.Interface.
func (*backend) Stats(context.Context) (storage.Stats, error) { return storage.Stats{}, errNotHere }

// ReadinessCheck implements storage.Interface.
func (*backend) ReadinessCheck() error { return nil }

// RequestWatchProgress implements storage.Interface.
func (*backend) RequestWatchProgress(context.Context) error { return errNotHere }

// GetCurrentResourceVersion implements storage.Interface.
func (*backend) GetCurrentResourceVersion(context.Context) (uint64, error) { return 0, errNotHere }

// EnableResourceSizeEstimation implements storage.Interface.
func (*backend) EnableResourceSizeEstimation(storage.KeysFunc) error { return nil }

// CompactRevision implements storage.Interface.
func (*backend) CompactRevision() int64 { return 0 }

// decodeInto copies a stored object into one of the internal version.
func decodeInto(stored, into runtime.Object) error {
	obj, err := internal(stored)
	if err != nil {
		return err
	}
	return assign(into, obj)
}

// assign copies what from points to.
func assign(into, from runtime.Object) error {
	a, b := reflect.ValueOf(into), reflect.ValueOf(from)
	if a.Type() != b.Type() {
		return fmt.Errorf("builtin: a %T is stored where a %T is read", from, into)
	}
	a.Elem().Set(b.Elem())
	return nil
}
