package patch

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// ManagerName returns the manager that a write is tracked under: the request's fieldManager, or the beginning of the User-Agent.
func ManagerName(fieldManager, userAgent string) string {
	if fieldManager != "" {
		return fieldManager
	}
	prefix, _, _ := strings.Cut(userAgent, "/")
	var b strings.Builder
	for _, c := range prefix {
		if !unicode.IsPrint(c) {
			continue
		}
		if b.Len()+utf8.RuneLen(c) > metav1validation.FieldManagerMaxLength {
			break
		}
		b.WriteRune(c)
	}
	return b.String()
}

type managerKey struct {
	resource    *types.Resource
	subresource string
}

// fieldManager tracks who set which field of a (sub)resource.
type fieldManager struct {
	lib   *managedfields.FieldManager
	types managedfields.TypeConverter
	known trackCache
	// hub is the apiVersion in which fields are tracked.
	hub string
	// empty returns the live object for an object that does not exist yet.
	empty func() runtime.Object
}

// manager returns the field manager of a (sub)resource, built on first use.
func (w *Writer) manager(r *types.Resource, subresource string) (*fieldManager, error) {
	key := managerKey{r, subresource}
	if m := w.managers[key]; m != nil {
		return m, nil
	}
	m, err := newFieldManager(r, subresource)
	if err != nil {
		return nil, fmt.Errorf("patch: field manager of %s: %w", r, err)
	}
	w.managers[key] = m
	return m, nil
}

func newFieldManager(r *types.Resource, subresource string) (*fieldManager, error) {
	build := managedfields.NewDefaultFieldManager
	if r.Custom {
		build = managedfields.NewDefaultCRDFieldManager
	}
	reset := r.Strategy.ResetFields(subresource)
	if subresource == types.Scale {
		reset = nil
	}
	kind := r.KindOf(subresource)
	hub := r.GroupVersion()
	if !r.Custom {
		hub = kind.GroupVersion()
	}
	k := kindTools{r, kind}
	converter := orDeduced(r.Strategy.TypeConverter(), r.Custom)
	lib, err := build(converter, r.Strategy.Convertor(), k, k, kind, hub, subresource, fieldpath.NewExcludeFilterSetMap(reset))
	if err != nil {
		return nil, err
	}
	return &fieldManager{lib: lib, types: converter, hub: hub.String(), empty: func() runtime.Object {
		obj, err := k.New(kind)
		if err != nil {
			return r.Strategy.New()
		}
		return obj
	}}, nil
}

// kindTools creates and defaults objects of the (sub)resource's kind.
type kindTools struct {
	resource *types.Resource
	kind     schema.GroupVersionKind
}

func (k kindTools) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	if kind == k.resource.GroupVersionKind() {
		return k.resource.Strategy.New(), nil
	}
	obj, err := scheme.Scheme.New(kind)
	if err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(kind)
	return obj, nil
}

func (k kindTools) Default(obj runtime.Object) { k.resource.Strategy.Default(obj) }

// orDeduced falls back to deduced types for kinds that client-go's apply configurations do not have.
func orDeduced(known managedfields.TypeConverter, custom bool) managedfields.TypeConverter {
	if custom {
		return known
	}
	return fallback{known, managedfields.NewDeducedTypeConverter()}
}

type fallback struct{ known, deduced managedfields.TypeConverter }

func (f fallback) ObjectToTyped(obj runtime.Object, o ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if v, err := f.known.ObjectToTyped(obj, o...); err == nil || !unknownType(err) {
		return v, err
	}
	return f.deduced.ObjectToTyped(obj, o...)
}

func (f fallback) TypedToObject(v *typed.TypedValue) (runtime.Object, error) {
	return f.known.TypedToObject(v)
}

// unknownType reports whether err is the library's error for a type that the schema lacks.
func unknownType(err error) bool { return strings.Contains(err.Error(), "no type found matching") }

// track records, in obj, what the manager has changed, and returns it. live is nil for a create. On any error obj gets the live
// object's managedFields: tracking never rejects a write.
func (w *Writer) track(q *Request, live, obj runtime.Object, manager string) (runtime.Object, error) {
	if types.WithoutMeta(obj) {
		return obj, nil
	}
	m, err := w.manager(q.Resource, q.Subresource)
	if err != nil {
		return nil, err
	}
	if live == nil {
		live = m.empty()
	}
	times := ranksOf(live, obj)
	out, err := m.update(times.encode(live), times.encode(obj), manager)
	if err != nil {
		copyManagedFields(obj, live)
		return obj, nil
	}
	times.decode(out, q.System.Now)
	return out, nil
}

// errUnownedScale is the 500 for an apply to the scale of a custom resource whose replicas have no owner: a real server tries to
// record a previous owner, and cannot convert a Scale for that.
var errUnownedScale = errors.New("failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) " +
	"to proper version: request to convert CR to an invalid group/version: autoscaling/v1")

// apply merges what the manager wants into live, nil if it does not exist: 409 with a cause for each field that another manager
// owns, unless forced.
func (w *Writer) apply(q *Request, live runtime.Object, wanted *unstructured.Unstructured, manager string, force bool) (runtime.Object, error) {
	m, err := w.manager(q.Resource, q.Subresource)
	if err != nil {
		return nil, err
	}
	if live == nil {
		live = m.empty()
	}
	if q.Resource.Custom && q.Subresource == types.Scale && len(managedFieldsOf(live)) == 0 {
		return nil, errUnownedScale
	}
	times := ranksOf(live)
	out, err := m.lib.Apply(times.encode(live), wanted, manager, force)
	if err != nil {
		return nil, inOrder(firstCause(err, m.types, wanted))
	}
	times.decode(out, q.System.Now)
	return out, nil
}

// inOrder sorts the causes of an apply conflict by manager, since the library walks a map. Paths of one manager are in order.
func inOrder(err error) error {
	var conflict *apierrors.StatusError
	if errors.As(err, &conflict) && conflict.ErrStatus.Details != nil {
		slices.SortStableFunc(conflict.ErrStatus.Details.Causes, func(a, b metav1.StatusCause) int { return strings.Compare(a.Message, b.Message) })
	}
	return err
}
