package informer

import (
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/diff"
)

const (
	mutationComparePeriod = time.Second
	mutationRetainPeriod  = 2 * time.Minute
)

// MutationDetector compares the objects passed to listeners with copies made at that moment, each for two to four minutes
// (I90). The caller runs Check when NextCheck is due. The zero value is ready to use.
//
// It costs a deep copy per object and a deep comparison per object and check, so use it only to look for mutations.
type MutationDetector struct {
	// Name appears in errors.
	Name string

	recent    []tracked // since the last rotation
	retained  []tracked // of the two minutes before
	rotated   time.Time // zero: no check yet
	nextCheck time.Time
}

// tracked is an object with a copy of its original state.
type tracked struct {
	object, copy runtime.Object
}

// AddObject starts tracking obj. It ignores tombstones and anything else that is not a runtime.Object.
func (d *MutationDetector) AddObject(obj any) {
	if object, ok := obj.(runtime.Object); ok {
		d.recent = append(d.recent, tracked{object, object.DeepCopyObject()})
	}
}

// NextCheck returns when the next Check is due: at once before the first, then a second after the last.
func (d *MutationDetector) NextCheck() time.Time { return d.nextCheck }

// Check compares everything and returns an error that says what was changed and how, or nil. client-go panics instead,
// because the results of a program that changes shared objects cannot be trusted.
func (d *MutationDetector) Check(now time.Time) error {
	d.nextCheck = now.Add(mutationComparePeriod)
	switch {
	case d.rotated.IsZero():
		d.rotated = now
	case now.Sub(d.rotated) > mutationRetainPeriod:
		d.retained, d.recent, d.rotated = d.recent, nil, now
	}
	for _, watched := range [][]tracked{d.recent, d.retained} {
		for i := range watched {
			if w := &watched[i]; !reflect.DeepEqual(w.object, w.copy) {
				key, _ := MetaNamespaceKey(w.copy)
				return fmt.Errorf("cache %s modified: %T %s, which belongs to the store, was changed in place; copy it before changing it:\n%s",
					d.Name, w.copy, key, w.diff())
			}
		}
	}
	return nil
}

// Len returns the number of tracked objects.
func (d *MutationDetector) Len() int { return len(d.recent) + len(d.retained) }

// diff falls back to printing both objects if they cannot be diffed (unexported fields).
func (w *tracked) diff() (text string) {
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("was %+v\nis  %+v", w.copy, w.object)
		}
	}()
	return diff.Diff(w.copy, w.object)
}
