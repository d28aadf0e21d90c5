package patch

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// managedFields are read and written on every write. The accessors of unstructured objects convert all entries into structs and
// back; this file uses their maps directly.

// managedFieldsOf returns an object's managedFields; nil objects have none.
func managedFieldsOf(obj runtime.Object) []metav1.ManagedFieldsEntry {
	if obj == nil {
		return nil
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil
	}
	return m.GetManagedFields()
}

// setManagedFields replaces an object's managedFields, in place.
func setManagedFields(obj runtime.Object, entries []metav1.ManagedFieldsEntry) {
	if m, err := meta.Accessor(obj); err == nil {
		m.SetManagedFields(entries)
	}
}

// copyManagedFields gives an object the managedFields of another, in place.
func copyManagedFields(obj, from runtime.Object) {
	u, isU := obj.(*unstructured.Unstructured)
	f, isF := from.(*unstructured.Unstructured)
	if !isU || !isF {
		setManagedFields(obj, managedFieldsOf(from))
		return
	}
	m, ok := u.Object["metadata"].(map[string]any)
	if !ok {
		return
	}
	if entries := rawEntries(f); entries != nil {
		m["managedFields"] = entries
	} else {
		delete(m, "managedFields")
	}
}

// rawEntries returns the managedFields of an unstructured object without conversion.
func rawEntries(u *unstructured.Unstructured) []any {
	m, _ := u.Object["metadata"].(map[string]any)
	entries, _ := m["managedFields"].([]any)
	return entries
}

// hasManagedFields reports whether an object's fields are tracked at all.
func hasManagedFields(obj runtime.Object) bool {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return len(rawEntries(u)) > 0
	}
	return len(managedFieldsOf(obj)) > 0
}

// timesIn returns the times of an object's managedFields, in order.
func timesIn(obj runtime.Object) []time.Time {
	var all []time.Time
	if u, ok := obj.(*unstructured.Unstructured); ok {
		for _, e := range rawEntries(u) {
			if t, ok := rawTime(e); ok {
				all = append(all, t)
			}
		}
		return all
	}
	for _, e := range managedFieldsOf(obj) {
		if e.Time != nil {
			all = append(all, e.Time.UTC())
		}
	}
	return all
}

func rawTime(entry any) (time.Time, bool) {
	m, _ := entry.(map[string]any)
	text, ok := m["time"].(string)
	if !ok {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339, text)
	return t.UTC(), err == nil
}

// withTimes returns a copy of the object with changed managedFields times; the object itself if it has none.
func withTimes(obj runtime.Object, change func(time.Time) time.Time) runtime.Object {
	if obj == nil || !hasManagedFields(obj) {
		return obj
	}
	c := types.ShallowCopy(obj)
	changeTimes(c, change)
	return c
}

// changeTimes changes the times of an object's managedFields. It replaces the entries and leaves the old ones alone.
func changeTimes(obj runtime.Object, change func(time.Time) time.Time) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		entries := slices.Clone(rawEntries(u))
		for i, e := range entries {
			if t, ok := rawTime(e); ok {
				m := maps.Clone(e.(map[string]any))
				m["time"] = change(t).UTC().Format(time.RFC3339)
				entries[i] = m
			}
		}
		slices.SortStableFunc(entries, compareRaw)
		if m, ok := u.Object["metadata"].(map[string]any); ok && entries != nil {
			m["managedFields"] = entries
		}
		return
	}
	entries := slices.Clone(managedFieldsOf(obj))
	if len(entries) == 0 {
		return
	}
	for i := range entries {
		if t := entries[i].Time; t != nil {
			at := metav1.NewTime(change(t.UTC()))
			entries[i].Time = &at
		}
	}
	slices.SortStableFunc(entries, compareEntries)
	setManagedFields(obj, entries)
}

// compareEntries orders managedFields by operation, second, manager, version and subresource.
func compareEntries(a, b metav1.ManagedFieldsEntry) int {
	seconds := func(t *metav1.Time) int64 {
		if t == nil {
			return 0
		}
		return t.Unix()
	}
	return firstDifference(strings.Compare(string(a.Operation), string(b.Operation)), compareInt(seconds(a.Time), seconds(b.Time)),
		strings.Compare(a.Manager, b.Manager), strings.Compare(a.APIVersion, b.APIVersion), strings.Compare(a.Subresource, b.Subresource))
}

// compareRaw does the same for unstructured entries.
func compareRaw(a, b any) int {
	x, _ := a.(map[string]any)
	y, _ := b.(map[string]any)
	compare := func(key string) int {
		s, _ := x[key].(string)
		t, _ := y[key].(string)
		return strings.Compare(s, t)
	}
	seconds := func(e any) int64 {
		if t, ok := rawTime(e); ok {
			return t.Unix()
		}
		return 0
	}
	return firstDifference(compare("operation"), compareInt(seconds(a), seconds(b)), compare("manager"), compare("apiVersion"), compare("subresource"))
}

func compareInt(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// firstDifference returns the first comparison result that is not 0.
func firstDifference(results ...int) int {
	for _, r := range results {
		if r != 0 {
			return r
		}
	}
	return 0
}

// sameButTimes reports whether two objects have the same managedFields, at least one, apart from times.
func sameButTimes(a, b runtime.Object) bool {
	x, isX := a.(*unstructured.Unstructured)
	y, isY := b.(*unstructured.Unstructured)
	if isX && isY {
		p, q := rawEntries(x), rawEntries(y)
		return len(p) > 0 && slices.EqualFunc(p, q, func(e, f any) bool {
			m, _ := e.(map[string]any)
			n, _ := f.(map[string]any)
			return equalButTime(m, n)
		})
	}
	p, q := managedFieldsOf(a), managedFieldsOf(b)
	return len(p) > 0 && slices.EqualFunc(p, q, func(e, f metav1.ManagedFieldsEntry) bool {
		e.Time, f.Time = nil, nil
		return reflect.DeepEqual(e, f)
	})
}

// equalButTime reports whether two unstructured entries are the same apart from times.
func equalButTime(a, b map[string]any) bool {
	counted := func(m map[string]any) int {
		if _, timed := m["time"]; timed {
			return len(m) - 1
		}
		return len(m)
	}
	if counted(a) != counted(b) {
		return false
	}
	for k, v := range a { // order: all must be equal
		if w, found := b[k]; k != "time" && (!found || !equalValue(v, w)) {
			return false
		}
	}
	return true
}
