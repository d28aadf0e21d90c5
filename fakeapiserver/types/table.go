package types

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The columns' descriptions are those of the fields.
var (
	nameDescription    = metav1.ObjectMeta{}.SwaggerDoc()["name"]
	createdDescription = metav1.ObjectMeta{}.SwaggerDoc()["creationTimestamp"]
)

// DefaultTable returns the table of a kind without printer columns.
func DefaultTable(obj runtime.Object, options *metav1.TableOptions) (*metav1.Table, error) {
	table := &metav1.Table{}
	if options == nil || !options.NoHeaders {
		table.ColumnDefinitions = []metav1.TableColumnDefinition{
			{Name: "Name", Type: "string", Format: "name", Description: nameDescription},
			{Name: "Created At", Type: "date", Description: createdDescription},
		}
	}
	SetTableMeta(table, obj)
	err := eachItem(obj, func(item runtime.Object) error {
		m, err := meta.Accessor(item)
		if err != nil {
			return err
		}
		table.Rows = append(table.Rows, metav1.TableRow{
			Cells:  []any{m.GetName(), m.GetCreationTimestamp().Time.UTC().Format("2006-01-02T15:04:05Z")},
			Object: runtime.RawExtension{Object: item},
		})
		return nil
	})
	return table, err
}

// SetTableMeta copies the list's metadata, or the object's resourceVersion, to a table.
func SetTableMeta(table *metav1.Table, obj runtime.Object) {
	if m, err := meta.ListAccessor(obj); err == nil {
		table.ResourceVersion = m.GetResourceVersion()
		table.Continue = m.GetContinue()
		table.RemainingItemCount = m.GetRemainingItemCount()
		return
	}
	if m, err := meta.CommonAccessor(obj); err == nil {
		table.ResourceVersion = m.GetResourceVersion()
	}
}

func eachItem(obj runtime.Object, f func(runtime.Object) error) error {
	if meta.IsListType(obj) {
		return meta.EachListItem(obj, f)
	}
	return f(obj)
}
