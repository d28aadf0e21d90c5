package render

import (
	"fmt"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/apis/meta/v1beta1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// View shows the objects of a resource in one format. In a watch it remembers whether it has sent a Table's columns (S21).
type View struct {
	format      Format
	resource    *types.Resource
	subresource string
	table       metav1.TableOptions
}

// NewView returns a view of a (sub)resource: 400 for invalid Table options.
func NewView(f Format, r *types.Resource, subresource string, query url.Values) (*View, error) {
	v := &View{format: f, resource: r, subresource: subresource}
	if f.As.Kind != "Table" {
		return v, nil
	}
	v.table.IncludeObject = metav1.IncludeObjectPolicy(query.Get("includeObject"))
	errs := validation.ValidateTableOptions(&v.table)
	switch len(errs) {
	case 0:
		return v, nil
	case 1:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("Unable to convert to Table as requested: %v", errs[0].Error()))
	}
	return nil, apierrors.NewBadRequest(fmt.Sprintf("Unable to convert to Table as requested: %v", errs))
}

// Format returns the view's format.
func (v *View) Format() Format { return v.format }

// Of returns an object or list as requested, with ages as of now. A Status is never converted. The object is not changed, but the
// result may share it.
func (v *View) Of(obj runtime.Object, now time.Time) (runtime.Object, error) {
	if s, ok := obj.(*metav1.Status); ok {
		return typedStatus(s), nil
	}
	gv := v.format.As.GroupVersion()
	switch v.format.As.Kind {
	case "":
		return WithKind(obj, v.resource, v.subresource), nil
	case "PartialObjectMetadata":
		if meta.IsListType(obj) {
			return nil, notAcceptable(fmt.Sprintf("you requested PartialObjectMetadata, but the requested object is a list (%s)", v.typeOf(obj)))
		}
		return v.partial(obj, gv)
	case "PartialObjectMetadataList":
		return v.partialList(obj, gv)
	case "Table":
		return v.asTable(obj, now)
	}
	return nil, notAcceptable("there is no view " + v.format.As.String())
}

// annotator is implemented by strategies whose objects have annotations that are not metadata but fields in disguise.
type annotator interface {
	// Annotations returns the others.
	Annotations(obj runtime.Object) (map[string]string, error)
}

// typeNamer is implemented by strategies of objects that a server handles in another form than the one shown.
type typeNamer interface {
	// TypeOf returns the name of that form's Go type.
	TypeOf(obj runtime.Object) string
}

func (v *View) typeOf(obj runtime.Object) string {
	if n, ok := v.resource.Strategy.(typeNamer); ok {
		return n.TypeOf(obj)
	}
	return fmt.Sprintf("%T", obj)
}

func (v *View) partial(obj runtime.Object, gv schema.GroupVersion) (*metav1.PartialObjectMetadata, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	p := meta.AsPartialObjectMetadata(m)
	if a, ok := v.resource.Strategy.(annotator); ok {
		if p.Annotations, err = a.Annotations(obj); err != nil {
			return nil, err
		}
	}
	p.SetGroupVersionKind(gv.WithKind("PartialObjectMetadata"))
	return p, nil
}

func (v *View) partialList(obj runtime.Object, gv schema.GroupVersion) (runtime.Object, error) {
	li, ok := obj.(metav1.ListInterface)
	if !ok {
		return nil, notAcceptable(fmt.Sprintf("you requested PartialObjectMetadataList, but the requested object is not a list (%s)", v.typeOf(obj)))
	}
	var items []metav1.PartialObjectMetadata // no items encode as null, as in a real server
	err := meta.EachListItem(obj, func(item runtime.Object) error {
		p, err := v.partial(item, gv)
		if err == nil {
			items = append(items, *p)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	m := metav1.ListMeta{ResourceVersion: li.GetResourceVersion(), Continue: li.GetContinue(), RemainingItemCount: li.GetRemainingItemCount()}
	kind := metav1.TypeMeta{APIVersion: gv.String(), Kind: "PartialObjectMetadataList"}
	if gv == metav1beta1.SchemeGroupVersion {
		return &metav1beta1.PartialObjectMetadataList{TypeMeta: kind, ListMeta: m, Items: items}, nil
	}
	return &metav1.PartialObjectMetadataList{TypeMeta: kind, ListMeta: m, Items: items}, nil
}

func (v *View) asTable(obj runtime.Object, now time.Time) (runtime.Object, error) {
	table, err := v.rows(obj, now)
	if err != nil {
		return nil, err
	}
	gv := v.format.As.GroupVersion()
	table.TypeMeta = metav1.TypeMeta{APIVersion: gv.String(), Kind: "Table"}
	if table.Rows == nil {
		table.Rows = []metav1.TableRow{}
	}
	for i := range table.Rows {
		row := &table.Rows[i]
		item := row.Object.Object
		m, err := meta.Accessor(item)
		if err != nil {
			return nil, err
		}
		_, marked := m.GetAnnotations()[metav1.InitialEventsAnnotationKey]
		switch {
		case v.table.IncludeObject == metav1.IncludeObject:
			row.Object.Object = WithKind(item, v.resource, v.subresource)
		case v.table.IncludeObject == metav1.IncludeNone && !marked:
			row.Object.Object = nil
		default:
			if row.Object.Object, err = v.partial(item, gv); err != nil {
				return nil, err
			}
		}
	}
	return table, nil
}

// rows asks the resource for its table; subresources have no printers.
func (v *View) rows(obj runtime.Object, now time.Time) (*metav1.Table, error) {
	if v.subresource == types.Scale && v.resource.Custom {
		return scaleTable(obj, &v.table, now)
	}
	return v.resource.Strategy.Table(obj, &v.table, now)
}
