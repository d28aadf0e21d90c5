package crd

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// libraryStrategy is the part of the apiextensions library's strategies that is used.
type libraryStrategy interface {
	PrepareForUpdate(ctx context.Context, obj, old runtime.Object)
	ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList
	WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string
	GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set
}

// creating adds what only the strategy of the resource itself has.
type creating interface {
	libraryStrategy
	PrepareForCreate(ctx context.Context, obj runtime.Object)
	Validate(ctx context.Context, obj runtime.Object) field.ErrorList
	WarningsOnCreate(ctx context.Context, obj runtime.Object) []string
}

// strategy is the strategy of one version of a custom resource.
type strategy struct {
	family   *family
	resource *types.Resource
	gvk      schema.GroupVersionKind
	main     creating
	status   libraryStrategy
	table    *table

	// Slow to build and not always needed. A strategy belongs to one server.
	converter managedfields.TypeConverter
}

var (
	_ types.Strategy = &strategy{}
	_ types.Asker    = &strategy{}
)

func (s *strategy) of(subresource string) libraryStrategy {
	if subresource == types.Status {
		return s.status
	}
	return s.main
}

// New returns an empty object of the kind.
func (s *strategy) New() runtime.Object {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(s.gvk)
	return u
}

// NewList returns an empty list of the kind.
func (s *strategy) NewList() runtime.Object {
	u := &unstructured.UnstructuredList{}
	u.SetGroupVersionKind(s.resource.ListGroupVersionKind())
	return u
}

// Default sets the schema's defaults if the object is of the kind.
func (s *strategy) Default(obj runtime.Object) {
	if u, ok := obj.(*unstructured.Unstructured); ok && u.GroupVersionKind().GroupKind() == s.gvk.GroupKind() {
		defaulting.Default(u.Object, s.family.schemas[u.GroupVersionKind().Version])
	}
}

// Convert changes the version, and prunes and defaults by the version's schema.
func (s *strategy) Convert(obj runtime.Object) (runtime.Object, error) {
	return s.in(s.gvk.Version, obj)
}

// Stored returns the object in the storage version, which need not be served.
func (s *strategy) Stored(obj runtime.Object) (runtime.Object, error) {
	return s.in(s.resource.StorageVersion, obj)
}

func (s *strategy) in(version string, obj runtime.Object) (runtime.Object, error) {
	gvk := s.gvk.GroupKind().WithVersion(version)
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("crd: %T cannot be converted to %s", obj, gvk)
	}
	have := u.GroupVersionKind()
	if have == gvk && !s.family.outdated(u) {
		return obj, nil
	}
	if have != gvk && s.family.webhook {
		return s.asked(u, gvk)
	}
	out := u.DeepCopy()
	out.SetGroupVersionKind(gvk)
	if _, err := s.Prune(out); err != nil {
		return nil, err
	}
	s.Default(out)
	return out, nil
}

// Asks implements types.Asker: a webhook that is called converts between the versions.
func (s *strategy) Asks() bool { return s.family.called != nil }

// asked returns an object as a webhook converts it. It gets no defaults, which are those of the version that it was sent or stored in.
func (s *strategy) asked(u *unstructured.Unstructured, to schema.GroupVersionKind) (runtime.Object, error) {
	if s.family.called == nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("conversion webhook for %v failed: this server calls no webhooks, and serves objects in the version that they are stored in only", u.GroupVersionKind()))
	}
	obj, err := s.family.called.ConvertToVersion(u, to.GroupVersion())
	if err != nil && u.GroupVersionKind().Version == s.resource.StorageVersion {
		err = &types.Undecodable{Revision: u.GetResourceVersion(), Err: err}
	}
	if err != nil {
		return nil, err
	}
	_, err = s.Prune(obj)
	return obj, err
}

// outdated reports whether an object was stored under an earlier definition.
func (f *family) outdated(u *unstructured.Unstructured) bool {
	if f.since == 0 || u.GetResourceVersion() == "" {
		return false
	}
	rev, err := strconv.ParseInt(u.GetResourceVersion(), 10, 64)
	return err == nil && rev <= f.since
}

func (s *strategy) PrepareForCreate(obj runtime.Object) {
	s.main.PrepareForCreate(context.Background(), obj)
}

func (s *strategy) PrepareForUpdate(obj, old runtime.Object, subresource string) {
	s.of(subresource).PrepareForUpdate(context.Background(), obj, old)
}

// Validate returns the errors of schema, metadata, list types and CEL rules.
func (s *strategy) Validate(obj runtime.Object) field.ErrorList {
	return s.main.Validate(context.Background(), obj)
}

// ValidateUpdate does the same against the old object, for transition rules, ratcheting, and the status alone.
func (s *strategy) ValidateUpdate(obj, old runtime.Object, subresource string) field.ErrorList {
	return s.of(subresource).ValidateUpdate(context.Background(), obj, old)
}

// Warnings are about finalizers (S33).
func (s *strategy) Warnings(obj, old runtime.Object, subresource string) []string {
	if old == nil {
		return s.main.WarningsOnCreate(context.Background(), obj)
	}
	return s.of(subresource).WarningsOnUpdate(context.Background(), obj, old)
}

// Field reads a selectable field: those of a definition are plain paths.
func (s *strategy) Field(obj runtime.Object, name string) string {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return ""
	}
	if s.family.outdated(u) {
		if now, err := s.in(u.GroupVersionKind().Version, u); err == nil {
			u, _ = now.(*unstructured.Unstructured)
		}
	}
	return types.FieldOf(u.Object, name)
}

// Convertor returns the library's, for the strategy None.
func (s *strategy) Convertor() runtime.ObjectConvertor { return s.family.convertor }

func (s *strategy) ResetFields(subresource string) map[fieldpath.APIVersion]*fieldpath.Set {
	switch subresource {
	case "":
		return s.main.GetResetFields()
	case types.Status:
		return s.status.GetResetFields()
	}
	return nil
}

// ReplicasPaths returns where an object has the managedFields of its scale subresource, by apiVersion.
func (s *strategy) ReplicasPaths() managedfields.ResourcePathMappings {
	paths := managedfields.ResourcePathMappings{}
	for _, v := range s.family.definition.Spec.Versions {
		gv := schema.GroupVersion{Group: s.gvk.Group, Version: v.Name}.String()
		paths[gv] = nil
		if v.Subresources == nil || v.Subresources.Scale == nil {
			continue
		}
		var path fieldpath.Path
		for _, name := range strings.Split(strings.TrimPrefix(v.Subresources.Scale.SpecReplicasPath, "."), ".") {
			path = append(path, fieldpath.PathElement{FieldName: &name})
		}
		paths[gv] = path
	}
	return paths
}
