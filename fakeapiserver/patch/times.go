package patch

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

// The managedfields library stamps entries with the real clock, and sorts and merges them by time. To keep the real clock out,
// the library gets ranks instead of times, in seconds after 1970 and so before any clock. It preserves them; any other time that
// comes back is a new stamp.

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

// encode returns a copy of the object with ranks for times in managedFields; the object itself if there are none.
func (r ranks) encode(obj runtime.Object) runtime.Object {
	return withTimes(obj, func(t time.Time) time.Time {
		n, _ := slices.BinarySearchFunc(r, t, time.Time.Compare)
		return time.Unix(int64(n)+1, 0)
	})
}

// decode restores the times, in place, and sorts the entries; new stamps become now.
func (r ranks) decode(obj runtime.Object, now time.Time) {
	changeTimes(obj, func(t time.Time) time.Time {
		if rank := t.Unix(); rank >= 1 && rank <= int64(len(r)) {
			return r[rank-1]
		}
		return now.UTC().Truncate(time.Second)
	})
}
