package informer

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// startList begins the list of a round.
func (r *Reflector) startList() {
	r.listedRV = r.relistResourceVersion()
	r.relisting = false
	r.sendList(newPager(metav1.ListOptions{ResourceVersion: r.listedRV}, r.pageSize(r.listedRV)))
}

func (r *Reflector) sendList(p pager) {
	r.pager = p
	r.await(phaseListing, Want{Op: OpList, Options: p.next})
}

// relistResourceVersion returns the resourceVersion to list at: nothing older than what was seen, any age the first time,
// and the newest if the server could not serve what was seen (I1).
func (r *Reflector) relistResourceVersion() string {
	switch {
	case r.unavailable:
		return ""
	case r.lastSyncRV == "":
		return "0"
	}
	return r.lastSyncRV
}

// pageSize keeps lists at a resourceVersion whole, so that the server's cache can answer them (I5).
func (r *Reflector) pageSize(rv string) int64 {
	switch {
	case r.o.WatchListPageSize != 0:
		return r.o.WatchListPageSize
	case r.paginatedList || rv == "" || rv == "0":
		return DefaultPageSize
	}
	return 0
}

// OnList answers an OpList with a decoded list object, which it unpacks for OnPage. The items of a list of structs are
// copied, so that one item does not keep the whole list in memory (k113305).
func (r *Reflector) OnList(list runtime.Object) {
	if r.phase != phaseListing {
		return
	}
	m, err := meta.ListAccessor(list)
	if err != nil {
		r.endRound(fmt.Errorf("failed to list %v: %w", r.o.TypeDescription, fmt.Errorf("returned object must be a list: %w", err)))
		return
	}
	if u, ok := list.(*unstructured.UnstructuredList); ok && isTable(u.GroupVersionKind()) {
		r.endRound(fmt.Errorf("failed to list %v: unsupported list gvk: %v", r.o.TypeDescription, u.GroupVersionKind()))
		return
	}
	items, err := meta.ExtractListWithAlloc(list)
	if err != nil {
		r.endRound(fmt.Errorf("unable to understand list result of type %T: %w", list, err))
		return
	}
	r.OnPage(items, m.GetResourceVersion(), m.GetContinue(), m.GetRemainingItemCount())
}

// OnPage answers an OpList with a page: its items, the list's resourceVersion, its continue token ("" on the last page)
// and its remainingItemCount (nil if unknown). The last page makes the list complete: it goes to the queue's Replace, and
// only then counts as the last sync (I10).
func (r *Reflector) OnPage(items []runtime.Object, rv, cont string, remaining *int64) {
	if r.phase != phaseListing {
		return
	}
	if !r.pager.page(items, rv, cont, remaining) {
		r.await(phaseListing, Want{Op: OpList, Options: r.pager.next})
		return
	}
	done := r.pager
	r.pager = pager{}
	// Pages at "0" mean that the server has no watch cache; pages at "" are normal and mean nothing (I6).
	if r.listedRV == "0" && done.paginated {
		r.paginatedList = true
	}
	r.unavailable = false
	if err := r.o.Queue.Replace(done.items, done.rv); err != nil {
		r.endRound(fmt.Errorf("unable to sync list result: %w", err))
		return
	}
	r.lastSyncRV = done.rv
	r.beginWatching()
	r.openWatch()
}

// OnListError answers an OpList with an error. A list whose resourceVersion is unavailable is retried at once without one
// (I3); any other error ends the round.
func (r *Reflector) OnListError(err error) {
	if r.phase != phaseListing {
		return
	}
	if r.pager.onError(err) {
		r.await(phaseListing, Want{Op: OpList, Options: r.pager.next})
		return
	}
	if isUnavailable(err) && !r.relisting {
		r.unavailable = true
		r.relisting = true
		// The page size of the first attempt is kept, though it may have been chosen for another resourceVersion.
		r.sendList(newPager(metav1.ListOptions{ResourceVersion: r.relistResourceVersion()}, r.pager.requested.Limit))
		return
	}
	r.endRound(fmt.Errorf("failed to list %v: %w", r.o.TypeDescription, err))
}
