package patch

// Known counts the results in a Writer's caches.
func Known(w *Writer) int {
	n := 0
	for _, m := range w.managers { // order: a sum
		n += len(m.known.outcomes)
	}
	return n
}
