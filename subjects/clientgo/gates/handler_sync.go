//go:build !no_handler_sync

package gates

// OnAdd implements cache.ResourceEventHandler.
func (h *handler) OnAdd(obj any, initial bool) {
	sort := Add
	if initial {
		sort = AddInitial
	}
	h.called(call{sort: sort, obj: obj})
}

func (h *handler) hasSynced() bool { return h.reg.HasSynced() }
