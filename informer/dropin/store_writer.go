package dropin

import "github.com/informersim/informersim/informer"

// storeWriter adapts any store to informer's Reflector.
func storeWriter(s ReflectorStore) informer.QueueWriter {
	w := writer{ReflectorStore: s}
	w.bookmarks, _ = s.(ReflectorBookmarkStore)
	w.transforming, _ = s.(TransformingStore)
	return w
}

type writer struct {
	ReflectorStore
	bookmarks    ReflectorBookmarkStore // nil: the store takes no bookmarks
	transforming TransformingStore      // nil: no transformer
}

// Bookmark passes a bookmark on to a store that accepts them (I28).
func (w writer) Bookmark(resourceVersion string) error {
	if w.bookmarks == nil {
		return nil
	}
	return w.bookmarks.Bookmark(resourceVersion)
}

// Transformer returns the store's transformer, which the temporary store of a streaming list uses too (I15).
func (w writer) Transformer() TransformFunc {
	if w.transforming == nil {
		return nil
	}
	return w.transforming.Transformer()
}

// resourceVersionObserver returns nil for a store that is not a ResourceVersionUpdater.
func resourceVersionObserver(s ReflectorStore) func(string) {
	if u, ok := s.(ResourceVersionUpdater); ok {
		return u.UpdateResourceVersion
	}
	return nil
}
