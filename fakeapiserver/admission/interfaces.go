package admission

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// interfaces is what the plugins need to know of the write's kind. All objects are unstructured.
type interfaces struct{ *Review }

func (i interfaces) GetObjectCreater() runtime.ObjectCreater                       { return i }
func (i interfaces) GetObjectTyper() runtime.ObjectTyper                           { return i }
func (i interfaces) GetObjectDefaulter() runtime.ObjectDefaulter                   { return i }
func (i interfaces) GetObjectConvertor() runtime.ObjectConvertor                   { return i }
func (i interfaces) GetEquivalentResourceMapper() runtime.EquivalentResourceMapper { return i }

// New implements runtime.ObjectCreater.
func (interfaces) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return u, nil
}

// ObjectKinds implements runtime.ObjectTyper.
func (interfaces) ObjectKinds(obj runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	return []schema.GroupVersionKind{obj.GetObjectKind().GroupVersionKind()}, false, nil
}

// Recognizes implements runtime.ObjectTyper.
func (interfaces) Recognizes(schema.GroupVersionKind) bool { return true }

// Default implements runtime.ObjectDefaulter. Defaults are set when the object has been read back.
func (interfaces) Default(runtime.Object) {}

// EquivalentResourcesFor implements runtime.EquivalentResourceMapper.
func (i interfaces) EquivalentResourcesFor(_ schema.GroupVersionResource, _ string) (all []schema.GroupVersionResource) {
	for _, v := range i.versions {
		all = append(all, resourceOf(v))
	}
	return all
}

// KindFor implements runtime.EquivalentResourceMapper.
func (i interfaces) KindFor(r schema.GroupVersionResource, subresource string) schema.GroupVersionKind {
	for _, v := range i.versions {
		if resourceOf(v) == r {
			return v.KindOf(subresource)
		}
	}
	return schema.GroupVersionKind{}
}

// Convert implements runtime.ObjectConvertor: in becomes out, in the version that out has.
func (i interfaces) Convert(in, out, _ any) error {
	from, fromOK := in.(*unstructured.Unstructured)
	to, toOK := out.(*unstructured.Unstructured)
	if !fromOK || !toOK {
		return fmt.Errorf("%T cannot become %T", in, out)
	}
	kind := to.GroupVersionKind()
	if from.GroupVersionKind() == kind {
		to.Object = from.Object
		return nil
	}
	converted, err := i.converted(from, kind.Version)
	if err != nil {
		return err
	}
	to.Object = converted
	to.SetGroupVersionKind(kind)
	return nil
}

// converted returns an object in another version of its resource.
func (i interfaces) converted(u *unstructured.Unstructured, version string) (map[string]any, error) {
	from, to := i.version(u.GroupVersionKind().Version), i.version(version)
	if from == nil || to == nil {
		return nil, fmt.Errorf("%s cannot be converted to version %s", u.GroupVersionKind(), version)
	}
	data, err := u.MarshalJSON()
	if err != nil {
		return nil, err
	}
	obj, _, err := from.Strategy.Decode(data, types.JSON, false)
	if err != nil {
		return nil, err
	}
	if obj, err = from.Strategy.Stored(obj); err != nil {
		return nil, err
	}
	if obj, err = to.Strategy.Convert(obj); err != nil {
		return nil, err
	}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return u.Object, nil
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
}

func (i interfaces) version(name string) *types.Resource {
	for _, v := range i.versions {
		if v.Version == name {
			return v
		}
	}
	return nil
}

// ConvertToVersion implements runtime.ObjectConvertor.
func (i interfaces) ConvertToVersion(runtime.Object, runtime.GroupVersioner) (runtime.Object, error) {
	return nil, fmt.Errorf("objects are converted to kinds here")
}

// ConvertFieldLabel implements runtime.ObjectConvertor.
func (interfaces) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}
