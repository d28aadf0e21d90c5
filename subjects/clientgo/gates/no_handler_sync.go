//go:build no_handler_sync

package gates

// OnAdd implements cache.ResourceEventHandler. These releases do not say whether an addition is of the initial list.
func (h *handler) OnAdd(obj any) { h.called(call{sort: Add, obj: obj}) }

// hasSynced is false: nobody can know.
func (h *handler) hasSynced() bool { return false }
