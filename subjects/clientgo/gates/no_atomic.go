//go:build no_atomic

package gates

// StoreRevision returns "": an Indexer of these releases has none.
func (g *Gates) StoreRevision(int) string { return "" }
