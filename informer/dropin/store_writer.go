package dropin

import "github.com/informersim/informersim/informer"

// storeWriter adapts any store to what informer's Reflector writes to.
func storeWriter(s ReflectorStore) informer.QueueWriter {
	w := writer{ReflectorStore: s}
	w.bookmarks, _ = s.(ReflectorBookmarkStore)
	w.transforming, _ = s.(TransformingStore)
	return w
}

type writer struct {
	ReflectorStore
	bookmarks    ReflectorBookmarkStore // nil: bookmarks are not for this store
	transforming TransformingStore      // nil: nothing is transformed
}

// Bookmark passes a bookmark on to a store that takes them (I28).
func (w writer) Bookmark(resourceVersion string) error {
	if w.bookmarks == nil {
		return nil
	}
	return w.bookmarks.Bookmark(resourceVersion)
}

// Transformer is the store's, which the temporary store of a streaming list uses too (I15).
func (w writer) Transformer() TransformFunc {
	if w.transforming == nil {
		return nil
	}
	return w.transforming.Transformer()
}

// resourceVersionObserver is nil for a store that does not want to know.
func resourceVersionObserver(s ReflectorStore) func(string) {
	if u, ok := s.(ResourceVersionUpdater); ok {
		return u.UpdateResourceVersion
	}
	return nil
}
