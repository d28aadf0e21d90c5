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

// Strategy implements what a resource's objects are in one version. Implementations are deterministic; a subresource argument is "" for
// the resource itself. What is done to an object that is written is either rules ([Rules]), which this package applies, or carried out by the
// strategy itself ([Storage]).
type Strategy interface {
	// New returns an empty object, NewList an empty list, each with its kind set.
	New() runtime.Object
	NewList() runtime.Object

	// Decode decodes a request's body in a media type of Accepts. A *runtime.StrictDecodingError comes with a usable object, any
	// other error with none. The kind is the data's, if it could be read. Custom resources are pruned, coerced and defaulted;
	// if strict is set, unknown fields are among the strict errors.
	Decode(data []byte, mediaType string, strict bool) (runtime.Object, *schema.GroupVersionKind, error)
	// Accepts returns the media types of bodies, the default first.
	Accepts() []string

	// Default sets defaults, in place.
	Default(obj runtime.Object)
	// Prune drops unknown fields, in place, and returns their paths.
	Prune(obj runtime.Object) ([]string, error)
	// Convert returns the object in this strategy's version, pruned and defaulted by its schema; the object itself if it is already
	// in that version.
	Convert(obj runtime.Object) (runtime.Object, error)
	// Stored returns the object in its storage version (Resource.StorageVersion); the object itself if it is already in that
	// version.
	Stored(obj runtime.Object) (runtime.Object, error)

	// Field returns the value of one of SelectableFields; "" if the object does not have it (S12).
	Field(obj runtime.Object, field string) string
	// ResetFields returns the paths that a write to the (sub)resource does not own, by apiVersion.
	ResetFields(subresource string) map[fieldpath.APIVersion]*fieldpath.Set
	// TypeConverter returns the types that managedFields are computed with. It may be built on first use.
	TypeConverter() managedfields.TypeConverter
	// Convertor converts objects for managedFields of other versions, like the real server's request scope.
	Convertor() runtime.ObjectConvertor

	// Table returns the object or list as a table with ages as of now. Rows carry the objects themselves; render turns them into the
	// requested form.
	Table(obj runtime.Object, options *metav1.TableOptions, now time.Time) (*metav1.Table, error)
	// OpenAPI returns the document of the resource's paths and schemas; nil if it has none of its own.
	OpenAPI() (*spec3.OpenAPI, error)
}

// Rules is implemented by strategies whose objects are prepared and validated one step after the other.
type Rules interface {
	// PrepareForCreate and PrepareForUpdate reset, in place, fields that the user may not set, and set the generation.
	PrepareForCreate(obj runtime.Object)
	PrepareForUpdate(obj, old runtime.Object, subresource string)
	// Validate and ValidateUpdate return the errors of the kind's own rules, in the real server's order. The caller validates the
	// metadata (Resource.BeforeCreate).
	Validate(obj runtime.Object) field.ErrorList
	ValidateUpdate(obj, old runtime.Object, subresource string) field.ErrorList
	// Warnings returns the Warning headers of a create (old is nil) or update.
	Warnings(obj, old runtime.Object, subresource string) []string
}

// Asker is implemented by strategies that may ask somebody else to convert an object, and fail.
type Asker interface {
	// Asks reports whether they do.
	Asks() bool
}

// MergeSchema is implemented by strategies of Go types, whose objects support strategic merge patches.
type MergeSchema interface {
	// MergeExample returns an empty object whose struct tags say how lists merge.
	MergeExample() runtime.Object
}

// Terminator is implemented by strategies of objects that need cleanup: the first delete only marks them.
type Terminator interface {
	// Terminate marks obj, in place, as being deleted.
	Terminate(obj runtime.Object, now metav1.Time)
}

// FieldLabels is implemented by strategies whose selectable fields are known to code only.
type FieldLabels interface {
	// CheckField returns why a field, metadata.name included, may not be selected by; nil if it may.
	CheckField(name string) error
}
