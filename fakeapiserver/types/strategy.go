package types

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/spec3"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Strategy is what happens to the objects of a resource in one version. Implementations are immutable and deterministic; a
// subresource argument is "" for the resource itself.
type Strategy interface {
	// New is an empty object with its kind set; NewList an empty list with its kind set.
	New() runtime.Object
	NewList() runtime.Object

	// Decode reads a request's body in a media type of Accepts. A *runtime.StrictDecodingError comes with a usable object; any
	// other error with none. The kind is that of the data, as far as it could be read. Custom resources are pruned, coerced
	// and defaulted; unknown fields are among the strict errors if strict is set.
	Decode(data []byte, mediaType string, strict bool) (runtime.Object, *schema.GroupVersionKind, error)
	// Accepts are the media types of bodies, the default first.
	Accepts() []string

	// Default fills in defaults, in place.
	Default(obj runtime.Object)
	// Prune drops unknown fields, in place, and returns their paths.
	Prune(obj runtime.Object) ([]string, error)
	// Convert is the object in this strategy's version, pruned and defaulted by its schema; the object itself if it is in it
	// already.
	Convert(obj runtime.Object) (runtime.Object, error)
	// Stored is the object in the version in which the resource is stored (Resource.StorageVersion); the object itself if it is
	// in it already.
	Stored(obj runtime.Object) (runtime.Object, error)

	// PrepareForCreate and PrepareForUpdate reset, in place, what the user may not set, and set the generation.
	PrepareForCreate(obj runtime.Object)
	PrepareForUpdate(obj, old runtime.Object, subresource string)
	// Validate and ValidateUpdate return the errors of the kind's own rules, in the order of the real server; metadata is
	// validated by the caller besides (Resource.BeforeCreate).
	Validate(obj runtime.Object) field.ErrorList
	ValidateUpdate(obj, old runtime.Object, subresource string) field.ErrorList
	// Warnings are the Warning headers of a create (old is nil) or update.
	Warnings(obj, old runtime.Object, subresource string) []string

	// Field is the value of one of SelectableFields; "" if the object does not have it (S12).
	Field(obj runtime.Object, field string) string
	// ResetFields are the paths that a write to the (sub)resource does not own, by apiVersion.
	ResetFields(subresource string) map[fieldpath.APIVersion]*fieldpath.Set
	// TypeConverter gives objects the types that managedFields are computed with. It may be built when first asked for.
	TypeConverter() managedfields.TypeConverter
	// Convertor converts objects for managedFields of other versions, as the real server's request scope does.
	Convertor() runtime.ObjectConvertor

	// Table is the object or list as a table, ages being those at now. Rows carry the objects themselves; render turns them into
	// what was asked for.
	Table(obj runtime.Object, options *metav1.TableOptions, now time.Time) (*metav1.Table, error)
	// OpenAPI is the document of the resource's paths and schemas; nil if there is none of its own.
	OpenAPI() (*spec3.OpenAPI, error)
}

// MergeSchema is implemented by strategies whose objects can be patched by a strategic merge patch: those of Go types.
type MergeSchema interface {
	// MergeExample is an empty object whose struct tags say how lists merge.
	MergeExample() runtime.Object
}

// Terminator is implemented by strategies of objects behind which somebody has to clean up: the first delete marks them.
type Terminator interface {
	// Terminate marks obj, in place, as being deleted.
	Terminate(obj runtime.Object, now metav1.Time)
}

// Deleter is implemented by strategies whose objects are not deleted at once.
type Deleter interface {
	// GracePeriod is how many seconds obj lives on after a delete that asks for the given grace period, nil for the default.
	GracePeriod(obj runtime.Object, requested *int64) int64
}
