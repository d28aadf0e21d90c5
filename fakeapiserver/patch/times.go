package patch

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

// The managedfields library stamps entries with the real clock, and sorts and merges them by time. To keep the real clock out,
// times are handed to it as ranks, in seconds after 1970 and so before any clock: the library keeps them, and whatever comes
// back as no rank is new.

// ranks are the distinct times of managedFields, sorted; second i+1 after 1970 stands for ranks[i].
type ranks []time.Time

// ranksOf collects the times of objects; nil objects have none.
func ranksOf(objs ...runtime.Object) ranks {
	var r ranks
	for _, obj := range objs {
		r = append(r, timesIn(obj)...)
	}
	slices.SortFunc(r, time.Time.Compare)
	return slices.CompactFunc(r, time.Time.Equal)
}

// encode is a copy of the object whose managedFields have ranks for times; the object itself if there are none.
func (r ranks) encode(obj runtime.Object) runtime.Object {
	return withTimes(obj, func(t time.Time) time.Time {
		n, _ := slices.BinarySearchFunc(r, t, time.Time.Compare)
		return time.Unix(int64(n)+1, 0)
	})
}

// decode puts the times back, in place, and the entries in order; what the library has stamped is from now.
func (r ranks) decode(obj runtime.Object, now time.Time) {
	changeTimes(obj, func(t time.Time) time.Time {
		if rank := t.Unix(); rank >= 1 && rank <= int64(len(r)) {
			return r[rank-1]
		}
		return now.UTC().Truncate(time.Second)
	})
}
