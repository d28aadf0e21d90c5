package patch

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// The managedfields library stamps entries with the real clock, and sorts and merges them by time. To keep the real clock out,
// times are handed to it as ranks, in seconds after 1970 and so before any clock: the library keeps them, and whatever comes
// back as no rank is new.

// ranks are the distinct times of managedFields, sorted; rank i+1 stands for ranks[i].
type ranks []time.Time

// ranksOf collects the times of objects; nil objects have none.
func ranksOf(objs ...runtime.Object) ranks {
	var r ranks
	for _, obj := range objs {
		for _, e := range managedFieldsOf(obj) {
			if e.Time != nil {
				r = append(r, e.Time.UTC())
			}
		}
	}
	slices.SortFunc(r, time.Time.Compare)
	return slices.CompactFunc(r, time.Time.Equal)
}

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

// encode is a copy of the object whose managedFields have ranks for times; the object itself if there are none.
func (r ranks) encode(obj runtime.Object) runtime.Object {
	entries := managedFieldsOf(obj)
	if len(entries) == 0 {
		return obj
	}
	entries = slices.Clone(entries)
	for i := range entries {
		if t := entries[i].Time; t != nil {
			n, _ := slices.BinarySearchFunc(r, t.Time, time.Time.Compare)
			rank := metav1.Unix(int64(n)+1, 0)
			entries[i].Time = &rank
		}
	}
	c := types.ShallowCopy(obj)
	setManagedFields(c, entries)
	return c
}

// decode puts the times back, in place; what the library has stamped is from now.
func (r ranks) decode(obj runtime.Object, now time.Time) {
	entries := managedFieldsOf(obj)
	if len(entries) == 0 {
		return
	}
	entries = slices.Clone(entries)
	for i := range entries {
		t := entries[i].Time
		if t == nil {
			continue
		}
		at := metav1.NewTime(now.UTC().Truncate(time.Second))
		if rank := t.Unix(); rank >= 1 && rank <= int64(len(r)) {
			at = metav1.NewTime(r[rank-1])
		}
		entries[i].Time = &at
	}
	slices.SortStableFunc(entries, compareEntries)
	setManagedFields(obj, entries)
}

// compareEntries is the order of managedFields: operation, second, manager, version, subresource.
func compareEntries(a, b metav1.ManagedFieldsEntry) int {
	seconds := func(t *metav1.Time) int64 {
		if t == nil {
			return 0
		}
		return t.Unix()
	}
	if c := strings.Compare(string(a.Operation), string(b.Operation)); c != 0 {
		return c
	}
	if x, y := seconds(a.Time), seconds(b.Time); x != y {
		if x < y {
			return -1
		}
		return 1
	}
	if c := strings.Compare(a.Manager, b.Manager); c != 0 {
		return c
	}
	if c := strings.Compare(a.APIVersion, b.APIVersion); c != 0 {
		return c
	}
	return strings.Compare(a.Subresource, b.Subresource)
}
