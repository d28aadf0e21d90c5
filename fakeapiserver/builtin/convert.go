package builtin

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	// The kinds of the groups are registered by these.
	_ "k8s.io/kubernetes/pkg/apis/admission/install"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apiserverinternal/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/authentication/install"
	_ "k8s.io/kubernetes/pkg/apis/authorization/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/extensions/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/imagepolicy/install"
	_ "k8s.io/kubernetes/pkg/apis/lifecycle/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	_ "k8s.io/kubernetes/pkg/apis/storagemigration/install"
)

// scheme has every version of every built-in kind, with defaults and conversions.
var scheme = legacyscheme.Scheme

// internal returns a copy of an object in the internal version.
func internal(obj runtime.Object) (runtime.Object, error) {
	return scheme.ConvertToVersion(obj, runtime.InternalGroupVersioner)
}

// inVersion returns an object in a version, through the internal one. The object itself, which is not changed, if that is its version.
func inVersion(obj runtime.Object, gv schema.GroupVersion) (runtime.Object, error) {
	have := obj.GetObjectKind().GroupVersionKind()
	if have.GroupVersion() == gv {
		return obj, nil
	}
	hub, err := internal(obj)
	if err != nil {
		return nil, err
	}
	return versioned(hub, gv)
}

// versioned converts an internal object, which may then share memory with the result.
func versioned(obj runtime.Object, gv schema.GroupVersion) (runtime.Object, error) {
	return scheme.UnsafeConvertToVersion(obj, gv)
}

// normalize gives an object, in place, the form that it has after a conversion to the internal version and back.
func normalize(obj runtime.Object) error {
	gvk := obj.GetObjectKind().GroupVersionKind()
	hub, err := internal(obj)
	if err != nil {
		return err
	}
	back, err := versioned(hub, gvk.GroupVersion())
	if err != nil {
		return err
	}
	return assign(obj, back)
}

// message is a Go type that is stored as protobuf.
type message interface {
	runtime.Object
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// encode returns an internal object as it comes out of etcd: in its storage version, without what protobuf drops, and defaulted. written is
// the object before that, if it had no such defaults yet, otherwise nil.
func encode(obj runtime.Object, gv schema.GroupVersion) (stored, written runtime.Object, err error) {
	out, err := versioned(obj, gv)
	if err != nil {
		return nil, nil, err
	}
	m, ok := out.(message)
	if !ok {
		return nil, nil, fmt.Errorf("builtin: a %T cannot be stored", out)
	}
	data, err := m.Marshal()
	if err != nil {
		return nil, nil, err
	}
	read, err := unmarshal(data, m)
	if err != nil {
		return nil, nil, err
	}
	scheme.Default(read)
	defaulted, err := read.Marshal()
	if err != nil {
		return nil, nil, err
	}
	if !bytes.Equal(data, defaulted) {
		if written, err = unmarshal(data, m); err != nil {
			return nil, nil, err
		}
	}
	read.GetObjectKind().SetGroupVersionKind(gv.WithKind(out.GetObjectKind().GroupVersionKind().Kind))
	return read, written, normalize(read)
}

// unmarshal decodes into a new object of example's type.
func unmarshal(data []byte, example message) (message, error) {
	obj := reflect.New(reflect.TypeOf(example).Elem()).Interface().(message)
	return obj, obj.Unmarshal(data)
}

// codecOf returns the codec of a storage version, which a dry run copies objects with.
func codecOf(gv schema.GroupVersion) runtime.Codec {
	info, _ := runtime.SerializerInfoForMediaType(legacyscheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	return legacyscheme.Codecs.CodecForVersions(info.Serializer, legacyscheme.Codecs.UniversalDeserializer(), gv, runtime.InternalGroupVersioner)
}

// convertor converts versioned objects into each other, as the managedfields library wants it. It implements runtime.ObjectConvertor.
type convertor struct{ runtime.ObjectConvertor }

// ConvertToVersion implements runtime.ObjectConvertor.
func (convertor) ConvertToVersion(obj runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	if _, ok := obj.(runtime.Unstructured); ok { // into the Go type first
		typed, err := scheme.UnsafeConvertToVersion(obj, obj.GetObjectKind().GroupVersionKind().GroupVersion())
		if err != nil {
			return nil, err
		}
		obj = typed
	}
	kinds, _, err := scheme.ObjectKinds(obj)
	if err != nil {
		return nil, err
	}
	if want, ok := target.KindForGroupVersionKinds(kinds); ok && slices.Contains(kinds, want) {
		return obj, nil
	}
	hub, err := internal(obj)
	if err != nil {
		return nil, err
	}
	return scheme.UnsafeConvertToVersion(hub, target)
}
