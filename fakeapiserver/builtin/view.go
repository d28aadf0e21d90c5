package builtin

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// Table returns the columns that kubectl prints.
func (k *kind) Table(obj runtime.Object, options *metav1.TableOptions, now time.Time) (*metav1.Table, error) {
	printer, ok := k.storages[""].(rest.TableConvertor)
	if !ok {
		return types.DefaultTable(obj, options)
	}
	hub, err := internal(obj)
	if err != nil {
		return nil, err
	}
	if options == nil {
		options = &metav1.TableOptions{}
	}
	unmoved := hub.DeepCopyObject()
	moveTimes(reflect.ValueOf(hub), time.Since(now.Truncate(time.Second)))
	table, err := printer.ConvertToTable(context.Background(), hub, options)
	if err == nil && slices.ContainsFunc(table.ColumnDefinitions, func(c metav1.TableColumnDefinition) bool { return c.Name == createdAt }) {
		table, err = printer.ConvertToTable(context.Background(), unmoved, options) // no ages, but times
	}
	if err != nil {
		return nil, err
	}
	return table, k.rows(table, obj)
}

// createdAt is the column of kinds without printers of their own.
const createdAt = "Created At"

// moveTimes moves all times in a value, in place. Kubernetes' printers take the clock's time for ages: now. What was a second ago in
// virtual time has to be a second ago then, give or take the microseconds that printing takes.
func moveTimes(v reflect.Value, by time.Duration) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			moveTimes(v.Elem(), by)
		}
	case reflect.Slice:
		for i := range v.Len() {
			moveTimes(v.Index(i), by)
		}
	case reflect.Struct:
		if !v.CanAddr() {
			return // in a map or an interface, where no printer looks
		}
		switch t := v.Addr().Interface().(type) {
		case *metav1.Time:
			if !t.IsZero() {
				t.Time = t.Add(by)
			}
			return
		case *metav1.MicroTime:
			if !t.IsZero() {
				t.Time = t.Add(by)
			}
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				moveTimes(v.Field(i), by)
			}
		}
	}
}

// rows replaces the printed objects by the given ones.
func (k *kind) rows(table *metav1.Table, obj runtime.Object) error {
	objs, err := itemsOf(obj)
	if err != nil {
		return err
	}
	if len(objs) != len(table.Rows) {
		return fmt.Errorf("builtin: the table of %d objects of %s has %d rows", len(objs), k.gvk, len(table.Rows))
	}
	for i := range table.Rows {
		table.Rows[i].Object = runtime.RawExtension{Object: objs[i]}
	}
	return nil
}

// Annotations returns those of an object's internal version, which is where a server takes the metadata from that it shows alone. In
// some versions of some kinds, conversion writes fields into annotations.
func (*kind) Annotations(obj runtime.Object) (map[string]string, error) {
	switch obj.(type) {
	case *appsv1.DaemonSet, *appsv1.Deployment, *autoscalingv1.HorizontalPodAutoscaler:
		var err error
		if obj, err = internal(obj); err != nil {
			return nil, err
		}
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	return m.GetAnnotations(), nil
}

// Prints reports whether the storage of the (sub)resource makes Tables.
func (k *kind) Prints(subresource string) bool {
	_, ok := k.storages[subresource].(rest.TableConvertor)
	return ok
}

// TypeOf returns the name of the Go type of an object's internal version.
func (*kind) TypeOf(obj runtime.Object) string {
	hub, err := internal(obj)
	if err != nil {
		return fmt.Sprintf("%T", obj)
	}
	return fmt.Sprintf("%T", hub)
}

// itemsOf returns the objects of a list, or the one object.
func itemsOf(obj runtime.Object) ([]runtime.Object, error) {
	if meta.IsListType(obj) {
		return meta.ExtractList(obj)
	}
	return []runtime.Object{obj}, nil
}
